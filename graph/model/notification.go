package model

import "plaza/social"

// Notification is the schema's Notification.
type Notification struct{ *social.Notification }

// IsNode marks Notification as a Node.
func (*Notification) IsNode() {}

// ActorsCount resolves Notification.actorsCount.
func (n *Notification) ActorsCount() int { return len(n.Acts) }

// IsRead resolves Notification.isRead.
func (n *Notification) IsRead() bool { return n.Read }
