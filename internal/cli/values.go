package cli

import (
	"fmt"
	"reflect"
	"time"

	"github.com/alecthomas/kong"
)

// plainMistakes replaces Kong's messages about a duration or a time, which show Go's layout of
// times instead of an example.
func plainMistakes() []kong.Option {
	return []kong.Option{
		mapped("duration", "a duration, such as 72h, 90m or 30s", time.ParseDuration),
		mapped("time", "a time, such as 2030-01-31T12:00:00Z", func(text string) (time.Time, error) { return time.Parse(time.RFC3339, text) }),
	}
}

func mapped[T any](context, kind string, parse func(string) (T, error)) kong.Option {
	return kong.TypeMapper(reflect.TypeFor[T](), kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		var text string
		if err := ctx.Scan.PopValueInto(context, &text); err != nil {
			return err
		}
		value, err := parse(text)
		if err != nil {
			return fmt.Errorf("%q is not %s", text, kind)
		}
		target.Set(reflect.ValueOf(value))
		return nil
	}))
}
