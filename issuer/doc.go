// Package issuer verifies the tokens (JWT, RFC 7519) with which another site identifies its users.
//
// Contract: a [Verifier] accepts only what the issuer has signed, for this server, with one of the
// allowed algorithms, which are all asymmetric; and only while it is valid. It reads the issuer's
// public keys (JWKS, RFC 7517) when they are first needed, and again from time to time, but however
// many tokens arrive, not more often than the package's limits say. It never logs tokens.
package issuer
