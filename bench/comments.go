package bench

import (
	"context"
)

// CommentsOptions say what [Comments] loads.
type CommentsOptions struct {
	Options

	Cache int // MB of mongod's cache for threads that do not fit into it; 0: they are left out
}

// Comments compares
func Comments(ctx context.Context, o CommentsOptions) (*Report, error) { return nil, nil }
