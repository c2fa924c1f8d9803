package mongodb

import (
	"errors"
	"slices"

	"plaza/storage/mongodb/internal/cluster"
)

// A database can store its comment threads, its feeds and its follower graph in one of several
// layouts each. The database records the layouts (collection "settings"), because all servers must
// use the same ones:
//
//   - The first server that opens an empty database records the layouts that its Options name, or
//     the default ones. A database with data but without this record was made by an early version
//     of Plaza, and has the oldest layouts (cluster.Layouts).
//   - Later servers use the recorded layouts if their Options leave the field empty. Open returns a
//     LayoutError if the Options name another layout.
//   - Only Store.Migrate changes a record. While it moves something, the record names both layouts,
//     and Open accepts either (cluster.Move).
//   - A call uses the layouts of the era in which it began (cluster.Era, inUse).

// laidOut lists everything that has layouts.
var laidOut = []struct {
	setting func() cluster.Layouts
	field   func(*Options) *string
}{
	{commentsSetting, func(o *Options) *string { return &o.Comments }},
	{feedsSetting, func(o *Options) *string { return &o.Feeds }},
	{graphSetting, func(o *Options) *string { return &o.Graph }},
}

// Layouts returns the layouts of "comments", "feeds" or "graph", beginning with the oldest, and nil
// for anything else. The first server that opens a database records its layouts, and only
// [Store.Migrate] changes them.
func Layouts(of string) []string {
	for _, l := range laidOut {
		if g := l.setting(); g.Name == of {
			others := slices.DeleteFunc(slices.Clone(g.Known), func(layout string) bool { return layout == g.Oldest })
			return append([]string{g.Oldest}, others...)
		}
	}
	return nil
}

// SetLayout sets the layout of something that [Layouts] knows.
func (o *Options) SetLayout(of, layout string) {
	for _, l := range laidOut {
		if l.setting().Name == of {
			*l.field(o) = layout
		}
	}
}

// CheckLayouts returns an error that names all unknown layouts.
func (o Options) CheckLayouts() error {
	var faults []error
	for _, l := range laidOut {
		faults = append(faults, l.setting().Check(*l.field(&o)))
	}
	return errors.Join(faults...)
}
