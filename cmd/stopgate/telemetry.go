package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/audit/live"
	"github.com/stopgate/stopgate/audit/redis"
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/secret"
	"github.com/stopgate/stopgate/internal/tomltree"
)

// telemetryTable is the table [telemetry].
type telemetryTable struct {
	LogLevel  logLevel    `toml:"log_level"`
	LogFormat logFormat   `toml:"log_format"`
	Events    int         `toml:"events"`
	Redis     *redisTable `toml:"redis"`
}

// redisTable is the table [telemetry.redis].
type redisTable struct {
	URL          string `toml:"url"`
	URLEnv       string `toml:"url_env"`
	URLFile      string `toml:"url_file"`
	Channel      string `toml:"channel"`
	Stream       string `toml:"stream"`
	StreamLength int64  `toml:"stream_length"`
}

// logLevel is what is worth a line.
type logLevel struct{ slog.Level }

// UnmarshalText reads log_level.
func (l *logLevel) UnmarshalText(text []byte) error {
	level, ok := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}[string(text)]
	if !ok {
		return fmt.Errorf("want debug, info, warn or error, not %q", text)
	}
	l.Level = level
	return nil
}

// logFormat is how a line is written.
type logFormat string

// UnmarshalText reads log_format.
func (f *logFormat) UnmarshalText(text []byte) error {
	*f = logFormat(text)
	if *f != "text" && *f != "json" {
		return fmt.Errorf("want text or json, not %q", text)
	}
	return nil
}

// telemetrySettings are the table [telemetry].
type telemetrySettings struct {
	telemetryTable
	redisURL string
}

// telemetryConfig reads the table; every mistake is reported with its place.
func telemetryConfig(table *tomltree.Value, from secret.Reader) (telemetrySettings, diag.List) {
	s := telemetrySettings{telemetryTable: telemetryTable{LogFormat: "text", Events: live.Length}}
	diags := tomltree.Decode(table, &s.telemetryTable)
	report := func(v *tomltree.Value, format string, args ...any) {
		diags.Add(diag.Diagnostic{Code: diag.BadValue, File: v.File(), Range: v.Range, Message: fmt.Sprintf(format, args...)})
	}
	if e := table.Get("events"); e != nil && s.Events < 1 {
		report(e.Value, "events must be above zero")
	}
	if s.Redis == nil || diags.HasErrors() {
		return s, diags
	}
	at := table.Get("redis").Value
	var err error
	if s.redisURL = s.Redis.URL; s.redisURL == "" {
		s.redisURL, err = from.Text(s.Redis.URLEnv, s.Redis.URLFile)
	} else if s.Redis.URLEnv != "" || s.Redis.URLFile != "" {
		err = fmt.Errorf("want one of url, url_env and url_file")
	}
	if err == nil && !from.Elsewhere() {
		err = redis.CheckURL(s.redisURL)
	}
	if err == nil && s.Redis.URL != "" {
		err = redis.CheckURL(s.Redis.URL)
	}
	if err != nil {
		report(at, "redis: %v", err)
	}
	if e := at.Get("stream_length"); e != nil && s.Redis.StreamLength < 1 {
		report(e.Value, "stream_length must be above zero")
	}
	return s, diags
}

// telemetryOf reads the table [telemetry]; flags win over it.
func telemetryOf(l loaded, f talkFlags) (telemetrySettings, error) {
	s, mistakes := telemetryConfig(l.program.Settings().Tables["telemetry"], secret.Machine())
	if mistakes.HasErrors() {
		return s, mistakesError{mistakes, l.set}
	}
	if f.level != "" {
		if err := s.LogLevel.UnmarshalText([]byte(f.level)); err != nil {
			return s, usagef("--log-level: %w", err)
		}
	}
	if f.format != "" {
		if err := s.LogFormat.UnmarshalText([]byte(f.format)); err != nil {
			return s, usagef("--log-format: %w", err)
		}
	}
	return s, nil
}

// logger writes lines to w.
func (s *telemetrySettings) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: s.LogLevel.Level}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// telemetry is what carries events and numbers out of a running gate.
type telemetry struct {
	events    *live.Stream
	publisher *redis.Publisher // nil for none
	work      sync.WaitGroup
}

// openTelemetry opens what the settings name. It connects to nothing yet.
func openTelemetry(s telemetrySettings, log *slog.Logger) (*telemetry, error) {
	t := &telemetry{events: live.New(s.Events)}
	if s.Redis == nil {
		return t, nil
	}
	gate := t.events.Epoch()
	if host, err := os.Hostname(); err == nil {
		gate = host + "/" + gate
	}
	var err error
	t.publisher, err = redis.New(redis.Options{
		URL: s.redisURL, Channel: s.Redis.Channel, Stream: s.Redis.Stream, StreamLength: s.Redis.StreamLength, Gate: gate,
		Changed: func(err error) {
			if err != nil {
				log.Warn("live events do not reach Redis", "error", err)
			} else {
				log.Info("live events reach Redis")
			}
		},
	}, t.events)
	return t, err
}

// run carries until ctx ends.
func (t *telemetry) run(ctx context.Context) {
	if t.publisher != nil {
		t.work.Go(func() { _ = t.publisher.Run(ctx) })
	}
}

// talkFlags say how the log is written.
type talkFlags struct{ level, format string }

func (f *talkFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.level, "log-level", "", "what is worth a line: `LEVEL` debug, info, warn or error (default info)")
	cmd.Flags().StringVar(&f.format, "log-format", "", "`FORM` of the lines: text or json (default text)")
}
