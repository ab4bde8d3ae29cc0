package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
	"github.com/stopgate/stopgate/internal/config"
)

// checked is what check says about a file, and how it ends.
func checked(t *testing.T, text string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.toml")
	if err := os.WriteFile(file, []byte("version = 1\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	root := commands.New(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	root.SetArgs([]string{"check", file})
	err := root.Execute()
	return out.String(), err
}

// Proves S61: check reads every table of the configuration, to the last word.
func TestCheckReadsEveryTable(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			Ref  string `json:"$ref"`
			Type string `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(config.PolicySchema(), &schema); err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(schema.Properties))
	if len(names) < 20 {
		t.Fatalf("the schema lists only %q", names)
	}
	for _, name := range names {
		var text string
		switch name {
		case "version":
			continue
		case "guard", "session", "handoffs":
			text = "[[" + name + "]]\n"
		case "tools", "upstream":
			text = "[" + name + ".x]\n"
		case "conversation":
			text = "[conversation.tools.x]\n"
		case "lists":
			text = "[lists]\nx = "
		default:
			text = "[" + name + "]\n"
		}
		if out, err := checked(t, text+"nosuch = 1\n"); err == nil || !strings.Contains(out, "p.toml:") {
			t.Errorf("[%s] with a key that does not exist: %v\n%s", name, err, out)
		}
	}
	for _, text := range []string{
		"[agent]\nstyle = 'loud'", "[agent]\napi = 'x'", "[hook]\nunattended = 'yes'", "[store]\nurl = 'mysql://x'", "[store]\nurl = 'sqlite:'",
		"[audit]\narguments = 'some'", "[audit]\nredact = ['x']", "[audit]\nredact_patterns = ['(']", "[audit]\nrows_days = -1",
		"[audit]\narguments_days = -1", "[audit]\nrotate_bytes = -1", "[audit]\nrotate_days = -1", "[approvals]\nabsent = 'never'", "[telemetry]\nevents = 0",
	} {
		if out, err := checked(t, text); err == nil || !regexp.MustCompile(`p\.toml:3:\d+: error SG0106`).MatchString(out) {
			t.Errorf("%q: %v\n%s", text, err, out)
		}
	}
	for _, text := range []string{
		"[agent]\nstyle = 'json'\napi = 'anthropic'", "[hook]\nunattended = 'allow'", "[store]\nurl = 'memory'", "[store]\nurl = 'sqlite:/x/y.db'",
		"[audit]\narguments = 'redacted'\nredact = ['/a/*']\nredact_patterns = ['x+']\nrows_days = 0\narguments_days = 1\nrotate_bytes = 0\nrotate_days = 7",
	} {
		if out, err := checked(t, text); err != nil {
			t.Errorf("%q: %v\n%s", text, err, out)
		}
	}
}

// Proves S61: one table says of every part of the configuration whose file it may
// stand in and when a change holds.
func TestEveryTableIsListed(t *testing.T) {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(config.PolicySchema(), &schema); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(page(t, "config.md"), "## All tables")
	rest, _, _ = strings.Cut(rest, "\n## ")
	listed := map[string]bool{}
	for _, line := range strings.Split(rest, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		for _, m := range regexp.MustCompile("`\\[*([a-z]+)").FindAllStringSubmatch(cells[1], -1) {
			listed[m[1]] = true
		}
	}
	for name := range schema.Properties {
		if !listed[name] {
			t.Errorf("config.md does not list [%s]", name)
		}
		delete(listed, name)
	}
	if delete(listed, "table"); len(listed) > 0 {
		t.Errorf("config.md lists %v, which do not exist", slices.Collect(maps.Keys(listed)))
	}
}
