// Package notifications decides who is notified of what, and keeps the settings by which users turn
// kinds of notifications off.
//
// [Service.NoticesOf] turns events into notices. It reads what the events are about, finds the
// people they concern, and leaves out the kinds that these have turned off, and what they do not
// see by InNotification (policy.go of package social). A person gets at most one notice of an
// event. The service stores no notices: package notify does, on one server at a time, in the
// transaction that stores its position in the log.
//
// What a stored notification still shows when its recipient reads it is for Viewer.Notifications of
// package network. That uses the same rule, because an act may have been hidden in between.
//
// The service needs the parts of the storage contract that [Store] names, and [Relations], which
// may come from memory. It has no rule of its own about who sees what, and knows neither GraphQL,
// nor package network, nor any database driver.
package notifications
