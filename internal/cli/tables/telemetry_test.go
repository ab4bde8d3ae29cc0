package tables

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// Every mistake in [telemetry] has its place, and the texts of secrets do not appear.
func TestTelemetryConfig(t *testing.T) {
	from := secret.Machine()
	from.Getenv = func(name string) string {
		return map[string]string{"REDIS": "redis://u:hunter2@h:1/0", "BAD": "hunter2", "HEADERS": "a=b"}[name]
	}
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"everything", "log_level = \"debug\"\nlog_format = \"json\"\nevents = 1\ncontent = true\npropagate_upstream = true\n[telemetry.redis]\nurl_env = \"REDIS\"\nchannel = \"c\"\n" +
			"stream = \"s\"\nstream_length = 5\n[telemetry.otlp]\nendpoint = \"http://h:4318\"\nheaders_env = \"HEADERS\"\nservice = \"x\"\nsample = 0.5\n", ""},
		{"a bare collector", "[telemetry.otlp]\n", ""},
		{"unknown level", "log_level = \"loud\"", "debug, info"},
		{"unknown form", "log_format = \"xml\"", "text or json"},
		{"no events", "events = 0", "above zero"},
		{"no server", "[telemetry.redis]\n", "one of the two"},
		{"two servers", "[telemetry.redis]\nurl = \"redis://h\"\nurl_env = \"REDIS\"", "one of url"},
		{"no URL", "[telemetry.redis]\nurl_env = \"BAD\"", "redis://HOST"},
		{"no length", "[telemetry.redis]\nurl = \"redis://h\"\nstream_length = 0", "above zero"},
		{"no endpoint", "[telemetry.otlp]\nendpoint = \"localhost:4318\"", "http://HOST"},
		{"too many", "[telemetry.otlp]\nsample = 1.5", "between 0 and 1"},
		{"no headers", "[telemetry.otlp]\nheaders_env = \"BAD\"", "NAME=VALUE"},
		{"no variable", "[telemetry.otlp]\nheaders_env = \"NONE\"", "NONE is not set"},
	} {
		doc, diags := tomltree.Parse("stopgate.toml", []byte("[telemetry]\n"+test.text))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		s, found := ReadTelemetry(doc.Root.Get("telemetry").Value, from)
		text := ""
		for _, d := range found {
			text += d.Message + "\n"
			if d.File == "" || d.Range.Start.Line == 0 {
				t.Errorf("%s: no place: %+v", test.name, d)
			}
		}
		if test.want == "" && found.HasErrors() || !strings.Contains(text, test.want) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %q, want %q", test.name, text, test.want)
		}
		if test.name == "a bare collector" && (s.OTLP.Sample != 1 || s.OTLP.Service != "stopgate") {
			t.Errorf("defaults: %+v", s.OTLP)
		}
	}
}
