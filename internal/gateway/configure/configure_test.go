package configure_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/configure"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// configure reads the operational tables of a file.
func read(t *testing.T, text string, denyMode string) (gateway.Options, diag.List) {
	t.Helper()
	doc, diags := tomltree.Parse("stopgate.toml", []byte(text))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s := policy.Settings{Tables: map[string]*tomltree.Value{}}
	s.Gate.DenyMode = denyMode
	for _, e := range doc.Root.Entries {
		s.Tables[e.Key] = e.Value
	}
	from := secret.Anywhere()
	from.Getenv = func(name string) string {
		return map[string]string{"TOKEN": "sg_1", "KEY": "sk-1", "LONG": "sg_0123456789abcdef"}[name]
	}
	from.Read = func(name string) ([]byte, error) {
		if name == "key" {
			return []byte("sk-file\n"), nil
		}
		return nil, errors.New("there is no " + name)
	}
	return configure.Read(s, from)
}

// Proves K0e, S61: every setting, and the documented defaults.
func TestConfigure(t *testing.T) {
	o, diags := read(t, "", "")
	if len(diags) > 0 || len(o.Upstreams) > 0 || o.Token != "" {
		t.Fatalf("%+v, %v", o, diags)
	}
	if s := o.Settings; s.Listen != "127.0.0.1:8788" || s.OnDeny != gateway.DenyText || s.AfterDeny != gateway.CancelUpstream || s.CancelAfter != 4096 ||
		s.Limits.Request != 64<<20 || s.Limits.Event != 32<<20 || s.Limits.Calls != 256 || s.Limits.HeldResponse != 32<<20 || s.Limits.HeldProcess != 1<<30 || s.Limits.Exchanges != 10_000 ||
		s.Timeouts.Answer != 120*time.Second || s.Timeouts.AnswerWhole != 600*time.Second || s.Timeouts.IdleFirst != 300*time.Second || s.Timeouts.Idle != 60*time.Second ||
		s.Timeouts.Exchange != 30*time.Minute || s.Timeouts.Write != 30*time.Second || s.Timeouts.Drain != 30*time.Second || s.Timeouts.Connect != 10*time.Second {
		t.Errorf("defaults: %+v", s)
	}

	o, diags = read(t, `
[gateway]
listen = "0.0.0.0:9000"
hosts = ["gate.example"]
origins = ["https://app.example"]
token_env = "TOKEN"
on_deny = "text"
on_block = "call"
after_deny = "drain"
cancel_after = 100
passthrough = ["GET /v1/files/{id}"]
server_tools = ["web_search_*"]
[upstream.local]
base_url = "http://127.0.0.1:11434/v1"
api = "openai"
object_arguments = true
[upstream.claude]
base_url = "https://llm.example"
api = "anthropic"
key_env = "KEY"
[upstream.more]
base_url = "https://more.example/v1"
api = "openai"
models = ["more-*"]
key_file = "key"
ca_file = "ca.pem"
connections = 7
idle = "9s"
[gateway.tokens.ci]
env = "LONG"
[limits]
held_bytes = 1_000
calls = 3
idle = "2s"
exchange = "1h"
`, "throw")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	s := o.Settings
	if s.Listen != "0.0.0.0:9000" || s.Hosts[0] != "gate.example" || s.Origins[0] != "https://app.example" || o.Token != "sg_1" ||
		s.OnDeny != gateway.DenyText || s.AfterDeny != gateway.DrainUpstream || s.CancelAfter != 100 || s.Passthrough[0] != "GET /v1/files/{id}" || s.ServerTools[0] != "web_search_*" ||
		s.Limits.HeldResponse != 1000 || s.Limits.Calls != 3 || s.Limits.Event != 32<<20 || s.Timeouts.Idle != 2*time.Second || s.Timeouts.Exchange != time.Hour {
		t.Errorf("settings: %+v", s)
	}
	if !reflect.DeepEqual(o.Upstreams, []gateway.Upstream{
		{ID: "local", API: "openai", BaseURL: "http://127.0.0.1:11434/v1", ObjectArguments: true},
		{ID: "claude", API: "anthropic", BaseURL: "https://llm.example", Key: "sk-1"},
		{ID: "more", API: "openai", BaseURL: "https://more.example/v1", Models: []string{"more-*"}, Key: "sk-file", Authorities: "xxxxxxxxxxxxxxxx",
			Connections: 7, Timeouts: gateway.Timeouts{Idle: 9 * time.Second}},
	}) || len(o.Tokens) != 1 || o.Tokens[0] != (gateway.Token{Name: "ci", SHA256: sha256.Sum256([]byte("sg_0123456789abcdef"))}) {
		t.Errorf("upstreams: %+v", o.Upstreams)
	}
	program, mistakes := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte("version = 1\n"), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	var err error
	if o.Gate, err = gate.New(program); err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.New(o); err == nil || !strings.Contains(err.Error(), "no certificate") {
		t.Errorf("authorities that are none: %v", err)
	}
	o.Upstreams[2].Authorities = ""
	if gw, err := gateway.New(o); err != nil {
		t.Error(err)
	} else {
		gw.Close()
	}

	// Proves K33: an explicit deny_mode also sets the form of denials.
	if o, _ := read(t, "", "throw"); o.Settings.OnDeny != gateway.DenyError {
		t.Error("deny_mode throw does not set on_deny")
	}
	if o, _ := read(t, "", "tool_result"); o.Settings.OnDeny != gateway.DenyText {
		t.Error("deny_mode tool_result does not set on_deny")
	}
}

// Proves K36: mistakes are reported with their positions, all in one run.
func TestConfigureMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"unknown key", "[gateway]\nlisten_on = \"x\"", "unknown key"},
		{"unknown word", "[gateway]\non_deny = \"ask\"", "text or error or answer"},
		{"a negative number for cancel_after", "[gateway]\ncancel_after = -1", "cancel_after is a number of bytes"},
		{"unknown word for after_deny", "[gateway]\nafter_deny = \"stop\"", "cancel or drain"},
		{"unknown word", "[gateway]\non_block = \"turn\"", "call or stop"},
		{"broken route", "[gateway]\npassthrough = [\"GET /v1/x\", \"/v1/y\"]", "METHOD"},
		{"unset variable", "[gateway]\ntoken_env = \"NOTHING\"", "NOTHING is not set"},
		{"two places of a token", "[gateway.tokens.a]\nenv = \"LONG\"\nfile = \"x\"", "one of sha256, env and file"},
		{"a token without a place", "[gateway.tokens.a]", "one of sha256, env and file"},
		{"a short token", "[gateway.tokens.a]\nenv = \"TOKEN\"", "can be guessed"},
		{"a token of nobody", "[gateway.tokens.local]\nenv = \"LONG\"", "belongs to clients without"},
		{"a certificate without its key", "[gateway]\ntls_cert = \"x\"", "both tls_cert and tls_key"},
		{"a key without its certificate", "[gateway]\ntls_key = \"x\"", "both tls_cert and tls_key"},
		{"two places of a key", "[gateway]\ntoken_env = \"TOKEN\"\n[upstream.a]\nbase_url = \"https://x\"\nkey_env = \"KEY\"\nkey_file = \"key\"", "one of the two"},
		{"no file of a key", "[gateway]\ntoken_env = \"TOKEN\"\n[upstream.a]\nbase_url = \"https://x\"\nkey_file = \"none\"", "there is no none"},
		{"no models", "[upstream.a]\nbase_url = \"https://x\"\nmodels = []", "must name models"},
		{"the same models", "[upstream.a]\nbase_url = \"https://x\"\nmodels = [\"m*\"]\n[upstream.b]\nbase_url = \"https://y\"\nmodels = [\"m*\"]", "for the models m*"},
		{"no waiting", "[upstream.a]\nbase_url = \"https://x\"\nidle = \"0s\"", "above zero"},
		{"no connections", "[upstream.a]\nbase_url = \"https://x\"\nconnections = 0", "above zero"},
		{"no base URL", "[upstream.a]\napi = \"openai\"", "is missing"},
		{"unknown API", "[upstream.a]\nbase_url = \"https://x\"\napi = \"bedrock\"", "openai or anthropic or gemini"},
		{"metadata address", "[upstream.a]\nbase_url = \"http://169.254.169.254\"", "metadata"},
		{"two for one API", "[upstream.a]\nbase_url = \"https://x\"\n[upstream.b]\nbase_url = \"https://y\"\napi = \"openai\"", "both serve"},
		{"key without token", "[upstream.a]\nbase_url = \"https://x\"\nkey_env = \"KEY\"", "token_env"},
		{"strange name", "[upstream.\"a b\"]\nbase_url = \"https://x\"", "name"},
		{"no table of tables", "[upstream]\nbase_url = \"https://x\"", "must be a table"},
		{"a limit of zero", "[limits]\ncalls = 0", "above zero"},
		{"a negative limit", "[limits]\nheld_bytes = -1", "above zero"},
		{"a deadline of zero", "[limits]\nidle = \"0s\"", "above zero"},
		{"a number for a time", "[limits]\nidle = 3", "duration"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, diags := read(t, test.text, "")
			found := ""
			for _, d := range diags {
				found += d.Message + " " + d.Hint + "\n"
				if d.File != "stopgate.toml" || d.Range.Start.Line == 0 {
					t.Errorf("no place: %+v", d)
				}
			}
			if !diags.HasErrors() || !strings.Contains(found, test.want) {
				t.Errorf("found %q, want %q", found, test.want)
			}
		})
	}
	_, diags := read(t, "[gateway]\nx = 1\n[limits]\ny = 2\n[upstream.a]\nz = 3", "")
	if len(diags) < 4 {
		t.Errorf("%d mistakes found: %v", len(diags), diags)
	}
}

// Proves S61: every setting in the reference exists, and every setting of [limits] is in the
// reference; the file that sets all of them is accepted.
func TestSettingsAreDocumented(t *testing.T) {
	reference, err := os.ReadFile("../../../docs/reference/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (`[a-z_]+`(?:, `[a-z_]+`)*) \\|")
	name := regexp.MustCompile("[a-z_]+")
	tables := map[string]string{"gateway": "", "upstream.ID": "", "limits": ""}
	for table := range tables {
		_, rest, ok := strings.Cut(string(reference), "| `["+table+"]`")
		if !ok {
			t.Fatalf("no table [%s]", table)
		}
		rest, _, _ = strings.Cut(rest, "\n\n")
		for _, m := range row.FindAllStringSubmatch(rest, -1) {
			for _, key := range name.FindAllString(m[1], -1) {
				tables[table] += key + "\n"
			}
		}
	}
	values := map[string]string{
		"listen": `"127.0.0.1:1"`, "token_env": `"TOKEN"`, "on_deny": `"text"`, "on_block": `"stop"`, "answer_rounds": "3", "after_deny": `"cancel"`, "cancel_after": "0", "base_url": `"https://x"`, "api": `"openai"`, "key_env": `"KEY"`,
		"object_arguments": "true", "hosts": "[]", "origins": "[]", "passthrough": "[]", "server_tools": "[]", "pass_items": "[]",
		"tls_cert": `"x"`, "tls_key": `"y"`, "models": `["m"]`, "key_file": `"key"`, "ca_file": `"ca"`, "connections": "1",
		"connect": `"1s"`, "answer": `"1s"`, "answer_whole": `"1s"`, "idle_first": `"1s"`, "idle": `"1s"`,
		"cache_key_is_session": "true", "share_subagents": "true",
	}
	text, count := "", 0
	for _, table := range []string{"gateway", "upstream.ID", "limits"} {
		text += "[" + table + "]\n"
		for _, key := range strings.Fields(tables[table]) {
			if key == "key_file" {
				continue // excludes key_env
			}
			value := values[key]
			if table == "limits" {
				if value = `"1s"`; strings.Contains(key, "bytes") || key == "calls" || key == "exchanges" {
					value = "1"
				}
			}
			text += fmt.Sprintf("%s = %s\n", key, value)
			count++
		}
	}
	o, diags := read(t, text, "")
	if diags.HasErrors() || count != 16+12+19 {
		t.Errorf("%d settings, %v:\n%s", count, diags, text)
	}
	if o.Settings.Limits != (gateway.Limits{Request: 1, Event: 1, Body: 1, Calls: 1, HeldResponse: 1, HeldProcess: 1, Exchanges: 1, ReadOn: 1}) || o.Settings.Timeouts.Drain != time.Second || o.Settings.Timeouts.ReadOn != time.Second || o.Settings.Timeouts.Connect != time.Second {
		t.Errorf("settings: %+v", o.Settings)
	}
}

// Event policies are read in the order of the file; a mistake in one is reported with its position.
func TestConfigurePolicies(t *testing.T) {
	options, found := read(t, `
[[gateway.policies]]
type = "redact"
patterns = ["sk-\\w+"]
direction = "both"
[[gateway.policies]]
type = "content_only"
name = "talk"
silent = true
[[gateway.policies]]
type = "passthrough"
`, "")
	var names []string
	for _, p := range options.Policies {
		names = append(names, p.Name())
	}
	if found.HasErrors() || strings.Join(names, " ") != "redact talk passthrough" || options.Policies[1] != (events.ContentOnly{As: "talk", Silent: true}) {
		t.Errorf("%v %v", names, found)
	}
	for _, bad := range []string{
		`type = "nothing"`, `name = "x"`, `type = "redact"`, "type = \"redact\"\npatterns = [\"^a\"]", "type = \"content_only\"\nunknown = 1",
		"type = \"redact\"\npatterns = [\"a\"]\ndirection = \"left\"", "type = \"redact\"\npatterns = [\"a\"]\nlongest = 9999",
		"type = \"content_only\"\n[[gateway.policies]]\ntype = \"content_only\"",
	} {
		if _, found := read(t, "[[gateway.policies]]\n"+bad, ""); !found.HasErrors() || found.Errors()[0].Range.Start.Line < 1 {
			t.Errorf("%s: %v", bad, found)
		}
	}
}
