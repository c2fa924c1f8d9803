package accesslog

import (
	"context"
	"log/slog"
)

// Audit logs that an account was used or changed, with the id of ctx's request. Attributes whose
// text is empty are left out.
func Audit(ctx context.Context, logger *slog.Logger, attrs ...slog.Attr) {
	logger.LogAttrs(ctx, slog.LevelInfo, "audit", identified(ctx, attrs)...)
}
