package relay

import (
	"plaza/fault"
	"plaza/paging"
	"plaza/social"
)

// Args are the arguments of every connection.
type Args struct {
	first  *int
	after  *string
	last   *int
	before *string
}

// ArgsOf returns the arguments of a connection, in the order in which the schema has them.
func ArgsOf(first *int, after *string, last *int, before *string) Args {
	return Args{first, after, last, before}
}

// page checks the arguments. Error: INVALID, naming the argument.
func (a Args) page(cursors Cursors) (paging.Page, error) {
	page := paging.Page{Limit: social.DefaultPageSize}
	switch {
	case a.first != nil && a.last != nil:
		return page, fault.Invalidf("last", "Give either first or last.")
	case a.first != nil:
		page.Limit = *a.first
	case a.last != nil:
		page.Limit, page.Last = *a.last, true
	}
	if page.Limit < 1 || page.Limit > social.MaxPageSize {
		argument := "first"
		if page.Last {
			argument = "last"
		}
		return page, fault.Invalidf(argument, "A page must have 1 to %d entries.", social.MaxPageSize)
	}
	var err error
	if page.After, err = cursors.Decode("after", a.after); err != nil {
		return page, err
	}
	page.Before, err = cursors.Decode("before", a.before)
	return page, err
}
