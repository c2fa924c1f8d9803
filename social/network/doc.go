// Package network has the services of Plaza's domain, which resolvers and live updates call.
//
// A [Service] makes every change: posts, threads, circles, follows, blocks, profiles; those of
// accounts are made by package accounts. It checks what it is given and what the acting user may
// do, and stores the change with its event. A [Viewer] reads as one user sees things; it gets
// candidates from the store, and keeps what the rule in policy.go of package social allows. A
// [Sighting] is something new, with those who may see it, for live updates. Package notifications
// decides who is notified of what; a Viewer reads what is stored of that.
//
// The service needs a [social.Store]. It has no rule of its own about who sees what, and knows
// neither GraphQL nor any database driver.
package network
