// Package connections keeps track of long-lived connections of any protocol. It limits how many
// there are, in total, for each client and for each user. It ends them with the session that
// authenticated them, or when the server shuts down.
package connections
