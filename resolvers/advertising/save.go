package advertising

import (
	"context"

	"plaza/ads"
	"plaza/fault"
	"plaza/graph/model"
	"plaza/resolvers/presenter"
)

// saveAd makes one change for users with the right, and then reads what was changed.
func saveAd[ID, T any](ctx context.Context, r *Resolver, load func(context.Context, ID) (*T, error), do func() (ID, error)) (saved *T, mistakes []*model.UserError, err error) {
	if err := r.mustManageAds(ctx); err != nil {
		return nil, nil, err
	}
	changed, err := do()
	mistakes, err = presenter.UserErrors(ctx, err)
	if err != nil || len(mistakes) > 0 {
		return nil, mistakes, err
	}
	saved, err = load(ctx, changed)
	return saved, mistakes, err
}

// at sets the invalid argument if the error does not name one.
func at(argument string, err error) error {
	mistake, ok := err.(*fault.Error) //nolint:errorlint // of the service's own, and no cause of another one
	if ok && mistake.Code == fault.CodeNotFound && mistake.Field == "" {
		mistake.Field = argument
	}
	return err
}

// set changes a field if a value was given.
func set[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

func setList[T, G any](to *[]T, given []G, read func([]G) []T) {
	if given != nil {
		*to = read(given)
	}
}

func capsOf(given []*model.AdCapInput) []ads.Cap {
	var caps []ads.Cap
	for _, c := range given {
		caps = append(caps, ads.Cap{Count: c.Count, Per: c.Per})
	}
	return caps
}
