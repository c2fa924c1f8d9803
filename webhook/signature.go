package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// SignatureHeader has the signature of a request, as Stripe's has: t=SECONDS,v1=HEX.
const SignatureHeader = "Plaza-Signature"

// Sign returns the signature of a body that is sent at a time: HMAC-SHA256 with the secret, over the
// time in Unix seconds, a dot, and the body. With the time in it, a copied request is of no use for
// long.
func Sign(secret string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "%d.", at.Unix()) // never fails: hash.Hash
	_, _ = io.Writer(mac).Write(body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}
