package sqldb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plaza/id"
	"plaza/social"
)

// Span is a page for SQL: the keys between two exclusive bounds, in one direction.
type Span struct {
	Low, High  any // []byte for ids, string for paths
	Descending bool
	Limit      int
	Reverse    bool // the walk is in reverse order of the list
}

// TopKey sorts after all ids.
var TopKey = []byte(strings.Repeat("\xff", len(id.ID{})+1))

// Ascending returns the span of a page of a list with the oldest first.
func Ascending(p social.Page) Span {
	sp := Span{Low: []byte(p.After), High: TopKey, Limit: p.Limit, Descending: p.Last, Reverse: p.Last}
	if p.Before != "" {
		sp.High = []byte(p.Before)
	}
	return sp
}

// Descending returns the span of a page of a list with the newest first.
func Descending(p social.Page) Span {
	p.After, p.Before = p.Before, p.After
	sp := Ascending(p)
	sp.Descending = !p.Last
	return sp
}

// Beyond returns the part of a span after a key.
func (sp Span) Beyond(key []byte) Span {
	if sp.Descending {
		sp.High = key
	} else {
		sp.Low = key
	}
	return sp
}

// Directed is a statement that walks a list in either direction.
type Directed struct{ ascending, descending *Statement }

// DefineDirected makes a statement for each direction. In the text, $order is replaced with ASC or
// DESC, $first with the function that finds the first key in that direction (min or max), $none
// with a key after all others, and $low and $high with the bounds of the keys beyond the column
// head, within ?2 and ?3.
func DefineDirected(text string) Directed {
	up := strings.NewReplacer("$order", "ASC", "$first", "min", "$none", fmt.Sprintf("x'%x'", TopKey), "$low", "head", "$high", "?3")
	down := strings.NewReplacer("$order", "DESC", "$first", "max", "$none", "x''", "$low", "?2", "$high", "head")
	return Directed{Define(up.Replace(text)), Define(down.Replace(text))}
}

// Along returns the statement for the direction of a span.
func (d Directed) Along(sp Span) *Statement {
	if sp.Descending {
		return d.descending
	}
	return d.ascending
}

// InListOrder restores the order of a list that was walked in reverse.
func InListOrder[T any](sp Span, items []T) []T {
	if sp.Reverse {
		slices.Reverse(items)
	}
	return items
}

// Pages reads one page of each list, all from one snapshot.
func Pages[K comparable, T any](ctx context.Context, db *DB, lists []social.List[K],
	page func(Reader, social.List[K]) ([]T, error),
) (map[social.List[K]][]T, error) {
	return Read(ctx, db, func(tx Reader) (map[social.List[K]][]T, error) {
		found := make(map[social.List[K]][]T, len(lists))
		for _, list := range lists {
			if _, done := found[list]; done {
				continue
			}
			items, err := page(tx, list)
			if err != nil {
				return nil, err
			}
			found[list] = items
		}
		return found, nil
	})
}
