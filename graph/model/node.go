// Package model holds what the wire shows: the schema's objects around the domain's types, inputs,
// payloads and connections. What takes no look-up is a field or method here; resolvers do the rest.
package model

import "context"

// Node is everything that has an id.
type Node interface{ IsNode() }

// PageInfo is the position of a page in its list.
type PageInfo struct {
	StartCursor *string
	EndCursor   *string
	// Next and Previous find out whether the list goes on: only where a client asks, for it may
	// take a read.
	Next, Previous func(context.Context) (bool, error)
}

// HasNextPage resolves PageInfo.hasNextPage.
func (p *PageInfo) HasNextPage(ctx context.Context) (bool, error) { return p.Next(ctx) }

// HasPreviousPage resolves PageInfo.hasPreviousPage.
func (p *PageInfo) HasPreviousPage(ctx context.Context) (bool, error) { return p.Previous(ctx) }
