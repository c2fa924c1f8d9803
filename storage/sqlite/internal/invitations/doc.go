// Package invitations implements social.Invitations: it stores a row for each invitation until it
// expires. [Use] belongs to the transaction that creates an account.
package invitations
