package plazatest

import (
	"context"
	"log/slog"
	"slices"
)

// warnings passes warnings and errors to the current default logger, which a test may have
// replaced.
type warnings struct{ with []slog.Attr }

// Enabled implements slog.Handler.
func (warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	return slog.Default().Handler().WithAttrs(w.with).Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{with: slices.Concat(w.with, attrs)}
}

// WithGroup implements slog.Handler. The engines have no groups.
func (w warnings) WithGroup(string) slog.Handler { return w }
