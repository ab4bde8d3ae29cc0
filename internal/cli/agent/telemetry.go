package agent

import (
	"context"
	"log/slog"
	"strings"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/record/metrics"
)

// telemetry opens the exporters of the table [telemetry]. Warnings, which a gate without a
// screen would log, are shown to the person at the agent.
func (r *agentRun) telemetry(ctx context.Context, notice func(string)) (*service.Telemetry, error) {
	talk, err := tables.TelemetryOf(r.Loaded, tables.LogFlags{})
	if err != nil {
		return nil, err
	}
	return service.OpenTelemetry(ctx, talk, metrics.New(r.Program.Tools()), slog.New(noticeLog{tell: notice}))
}

// noticeLog is a log whose warnings are notices to a person.
type noticeLog struct {
	tell func(text string)
	with string // attributes of all records
}

// Enabled implements [slog.Handler].
func (n noticeLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements [slog.Handler].
func (n noticeLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == gate.TraceDenied {
		return nil // the screen shows each verdict
	}
	text := r.Message + n.with
	r.Attrs(func(a slog.Attr) bool {
		text += attribute(a)
		return true
	})
	n.tell(text)
	return nil
}

// WithAttrs implements [slog.Handler].
func (n noticeLog) WithAttrs(list []slog.Attr) slog.Handler {
	for _, a := range list {
		n.with += attribute(a)
	}
	return n
}

// WithGroup implements [slog.Handler]. The gate's records have no groups.
func (n noticeLog) WithGroup(string) slog.Handler { return n }

func attribute(a slog.Attr) string {
	if a.Key == "error" {
		return ": " + strings.TrimSpace(a.Value.String())
	}
	return ", " + a.Key + " " + a.Value.String()
}
