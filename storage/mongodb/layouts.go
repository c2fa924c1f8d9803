package mongodb

import (
	"errors"
	"slices"

	"plaza/storage/mongodb/internal/cluster"
)

// laidOut is what a database can keep in more than one way.
var laidOut = []struct {
	setting func() cluster.Layouts
	field   func(*Options) *string
}{
	{commentsSetting, func(o *Options) *string { return &o.Comments }},
	{feedsSetting, func(o *Options) *string { return &o.Feeds }},
	{graphSetting, func(o *Options) *string { return &o.Graph }},
}

// Layouts lists the ways to keep something ("comments", "feeds"); none, where there is but one. The first is the oldest.
func Layouts(of string) []string {
	for _, l := range laidOut {
		if g := l.setting(); g.Name == of {
			others := slices.DeleteFunc(slices.Clone(g.Known), func(layout string) bool { return layout == g.Oldest })
			return append([]string{g.Oldest}, others...)
		}
	}
	return nil
}

// SetLayout chooses how something is kept; what [Layouts] does not know stays as it is.
func (o *Options) SetLayout(of, layout string) {
	for _, l := range laidOut {
		if l.setting().Name == of {
			*l.field(o) = layout
		}
	}
}

// CheckLayouts says which of the layouts there are not.
func (o Options) CheckLayouts() error {
	var faults []error
	for _, l := range laidOut {
		faults = append(faults, l.setting().Check(*l.field(&o)))
	}
	return errors.Join(faults...)
}
