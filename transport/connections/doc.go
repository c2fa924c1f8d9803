// Package connections knows the connections that stay open, whatever they speak. It limits how many
// there are, of each client and of each user, and ends them: with the session that they
// authenticated with, or with the server.
package connections
