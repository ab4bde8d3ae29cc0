package tables

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/record/live"
	"github.com/stopgate/stopgate/internal/record/otel"
	"github.com/stopgate/stopgate/internal/record/redis"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// IsLocalAddress reports whether an address is one of this machine alone.
func IsLocalAddress(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && IsLoopback(host)
}

// telemetryTable is the table [telemetry].
type telemetryTable struct {
	LogLevel  logLevel    `toml:"log_level"`
	LogFormat logFormat   `toml:"log_format"`
	Events    int         `toml:"events"`
	Content   bool        `toml:"content"`
	Propagate bool        `toml:"propagate_upstream"`
	Metrics   string      `toml:"metrics"`
	Redis     *redisTable `toml:"redis"`
	OTLP      *otlpTable  `toml:"otlp"`
}

// otlpTable is the table [telemetry.otlp].
type otlpTable struct {
	Endpoint    string  `toml:"endpoint"`
	HeadersEnv  string  `toml:"headers_env"`
	HeadersFile string  `toml:"headers_file"`
	Service     string  `toml:"service"`
	Sample      float64 `toml:"sample"`
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

// logLevel is the minimum level of the log.
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

// Telemetry are the table [telemetry].
type Telemetry struct {
	telemetryTable
	RedisURL string
	Headers  map[string]string // of the collector
	Hide     []string          // pointers that content does not show
}

// ReadTelemetry reads the table; every mistake is reported with its place.
func ReadTelemetry(table *tomltree.Value, from secret.Reader) (Telemetry, diag.List) {
	s := Telemetry{telemetryTable: telemetryTable{LogFormat: "text", Events: live.Length}}
	t := tomltree.Read(table, &s.telemetryTable)
	tomltree.Positive(t, "events", s.Events)
	if !IsLocalAddress(s.Metrics) {
		t.Reject("metrics", fmt.Errorf("metrics are served without a token: want a loopback address such as 127.0.0.1:9464, not %q", s.Metrics))
	}
	if t.Mistakes.HasErrors() {
		return s, t.Mistakes
	}
	if s.OTLP != nil {
		s.readOTLP(t, from)
	}
	if s.Redis != nil {
		s.readRedis(t, from)
	}
	return s, t.Mistakes
}

func (s *Telemetry) readRedis(t *tomltree.Settings, from secret.Reader) {
	at := t.Get("redis").Value
	var err error
	if s.RedisURL = s.Redis.URL; s.RedisURL == "" {
		s.RedisURL, err = from.Text(s.Redis.URLEnv, s.Redis.URLFile)
	} else if s.Redis.URLEnv != "" || s.Redis.URLFile != "" {
		err = fmt.Errorf("want one of url, url_env and url_file")
	}
	if err == nil && !from.Elsewhere() {
		err = redis.CheckURL(s.RedisURL)
	}
	if err == nil && s.Redis.URL != "" {
		err = redis.CheckURL(s.Redis.URL)
	}
	if err != nil {
		t.Report(at, "redis: %v", err)
	}
	if e := at.Get("stream_length"); e != nil && s.Redis.StreamLength < 1 {
		t.Report(e.Value, "stream_length must be above zero")
	}
}

func (s *Telemetry) readOTLP(t *tomltree.Settings, from secret.Reader) {
	at := t.Get("otlp").Value
	if s.OTLP.Service == "" {
		s.OTLP.Service = "stopgate"
	}
	if at.Get("sample") == nil {
		s.OTLP.Sample = 1
	}
	if e := at.Get("endpoint"); e != nil {
		if u, err := url.Parse(s.OTLP.Endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
			t.Report(e.Value, "want http://HOST:PORT or https://HOST, not %q", s.OTLP.Endpoint)
		}
	}
	if e := at.Get("sample"); e != nil && !(s.OTLP.Sample >= 0 && s.OTLP.Sample <= 1) {
		t.Report(e.Value, "sample is a part between 0 and 1")
	}
	if s.OTLP.HeadersEnv == "" && s.OTLP.HeadersFile == "" {
		return
	}
	text, err := from.Text(s.OTLP.HeadersEnv, s.OTLP.HeadersFile)
	if err == nil && !from.Elsewhere() {
		s.Headers, err = otel.ParseHeaders(text)
	}
	if err != nil {
		t.Report(at, "otlp: headers: %v", err)
	}
}

// TelemetryOf reads the table [telemetry]; flags win over it.
func TelemetryOf(l inputs.Loaded, f LogFlags) (s Telemetry, err error) {
	s, mistakes := ReadTelemetry(l.Program.Settings().Tables["telemetry"], secret.Machine())
	if err := l.Mistakes(mistakes); err != nil {
		return s, err
	}
	if s.Hide, err = hidden(l); err != nil {
		return s, err
	}
	if f.level != "" {
		if err := s.LogLevel.UnmarshalText([]byte(f.level)); err != nil {
			return s, cli.Usagef("--log-level: %w", err)
		}
	}
	if f.format != "" {
		if err := s.LogFormat.UnmarshalText([]byte(f.format)); err != nil {
			return s, cli.Usagef("--log-format: %w", err)
		}
	}
	return s, nil
}

// alwaysHidden are the names of arguments that no span shows.
var alwaysHidden = []string{"password", "passwd", "secret", "token", "api_key", "apikey", "authorization", "cookie", "credentials", "private_key"}

// hidden returns the pointers of values that no span shows: those of [audit] redact, and names
// of secrets at any depth.
func hidden(l inputs.Loaded) ([]string, error) {
	redacted, mistakes := place.Redacted(l.Program.Settings().Tables["audit"])
	if err := l.Mistakes(mistakes); err != nil {
		return nil, err
	}
	list := append([]string(nil), redacted...)
	for _, name := range alwaysHidden {
		list = append(list, "/**/"+name)
	}
	return list, nil
}

// Logger writes lines to w. As JSON a duration is in seconds, as in metrics.
func (s *Telemetry) Logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: s.LogLevel.Level}
	if s.LogFormat == "json" {
		o.ReplaceAttr = func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindDuration {
				a.Value = slog.Float64Value(a.Value.Duration().Seconds())
			}
			return a
		}
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// Teller shows text to people on w, whatever the level of the log. With a JSON log it is a log
// line, so that every line is JSON.
func (s *Telemetry) Teller(w io.Writer) func(text string) {
	if s.LogFormat != "json" {
		return func(text string) { fmt.Fprintf(w, "stopgate: %s\n", text) }
	}
	every := *s
	every.LogLevel.Level = slog.LevelDebug
	log := every.Logger(w)
	return func(text string) { log.Info(text) }
}

// Shower shows the mistakes of a policy to people on w, with their lines and carets, or,
// where programs read the log, as a line each.
func (s *Telemetry) Shower(w io.Writer) func(config.MistakesError) {
	if s.LogFormat != "json" {
		return func(m config.MistakesError) { fmt.Fprint(w, cli.Coloured(w, diag.Text(m.List.Errors(), m.Set.Text))) }
	}
	log := s.Logger(w)
	return func(m config.MistakesError) {
		for _, d := range m.List.Errors() {
			log.Error(d.Message, "code", string(d.Code), "file", d.File, "line", d.Range.Start.Line, "column", d.Range.Start.Column, "hint", d.Hint)
		}
	}
}

// LogFlags are the level and the format of the log.
type LogFlags struct{ level, format string }

func (f *LogFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.level, "log-level", "", "what is worth a line: `LEVEL` debug, info, warn or error (default info)")
	cmd.Flags().StringVar(&f.format, "log-format", "", "`FORM` of the lines: text or json (default text)")
	cli.CompleteFlag(cmd, "log-level", "debug", "info", "warn", "error")
	cli.CompleteFlag(cmd, "log-format", "text", "json")
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
