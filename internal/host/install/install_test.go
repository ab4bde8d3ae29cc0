package install_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

func plan(t testing.TB, host string, flags ...string) *install.Plan {
	t.Helper()
	p, err := install.Make(host, install.Location{Scope: install.User, Home: "/home/u"}, install.Command{Program: "/opt/my tools/stopgate", Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// versioned hosts require a version in the file, which stays.
var versioned = map[string]bool{"cursor": true, "copilot-cli": true}

// settings are typical files.
var settings = map[string]string{
	"none":        "",
	"other keys":  "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n",
	"crlf":        "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n",
	"one line":    `{"a":1,"b":[1.0,2]}`,
	"tabs":        "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}",
	"empty hooks": "{\n  \"hooks\": {\"PreToolUse\": []},\n  \"z\": 1e3\n}\n",
	"other hooks": "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\n    ],\n    \"Stop\": []\n  },\n  \"x\": \"\\u00e9\"\n}\n",
}

// Proves S51: installing changes only hooks, is idempotent, and uninstalling restores the file byte
// for byte.
func TestInstallAndUninstall(t *testing.T) {
	for _, name := range hook.Names() {
		if name == "generic" {
			continue
		}
		p := plan(t, name)
		for label, before := range settings {
			if p.Content != nil && before != "" {
				continue
			}
			t.Run(name+"/"+label, func(t *testing.T) {
				after, err := p.Install([]byte(before))
				if err != nil {
					t.Fatal(err)
				}
				if p.Content == nil && !json.Valid(after) {
					t.Fatalf("no JSON:\n%s", after)
				}
				if n := strings.Count(string(after), "\n"); label == "crlf" && strings.Count(string(after), "\r\n") != n {
					t.Errorf("lines end in two ways: %q", after)
				}
				if !p.Installed(after) || p.Installed([]byte(before)) {
					t.Errorf("Installed does not see it:\n%s", after)
				}
				if second, err := p.Install(after); err != nil || string(second) != string(after) {
					t.Errorf("installing twice: %v\n%s", err, second)
				}
				if lines := p.Lines(after); len(lines) != 1 || lines[0] != p.Line {
					t.Errorf("lines %q", lines)
				}
				gone, err := p.Uninstall(after)
				if err != nil || string(gone) != before && label != "empty hooks" && !versioned[name] {
					t.Errorf("uninstalled: %v\n%s\nwant\n%s", err, gone, before)
				}
			})
		}
	}
}

// Proves S51: a command with other flags replaces the older installation.
func TestInstallReplaces(t *testing.T) {
	after, err := plan(t, "claude-code").Install([]byte(settings["other hooks"]))
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, "claude-code", "--fewer-prompts")
	if after, err = p.Install(after); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(after), "stopgate' hook"); n != 4 {
		t.Errorf("%d hooks:\n%s", n, after)
	}
	gone, err := p.Uninstall(after)
	if err != nil || string(gone) != settings["other hooks"] {
		t.Errorf("%v\n%s", err, gone)
	}
}

// Proves S51: Lines returns the line in the file, with any flags, and not the one that would be
// installed now.
func TestLinesAreThoseOfTheFile(t *testing.T) {
	for _, name := range hook.Names() {
		if name == "generic" {
			continue
		}
		for _, c := range []install.Command{
			{Program: "/old/it's/stopgate", Flags: []string{"--policy", "/srv/a b.toml", "--observe"}},
			{Program: "/old/stopgate-hook", Small: true, Flags: []string{"--policy", `/srv/"x".toml`}},
		} {
			before, err := install.Make(name, install.Location{Scope: install.User, Home: "/home/u"}, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range append([]*install.Plan{before}, before.Also...) {
				text, err := f.Install(nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := plan(t, name).Lines(text); len(got) != 1 || got[0] != f.Line {
					t.Errorf("%s: %s has %q, want %q", name, f.File, got, f.Line)
				}
			}
		}
	}
	for _, text := range []string{"// written by stopgate install pi\n", "// written by stopgate install pi\nspawn(oops, {\n", "spawn(\"/x/stopgate\", [\"hook\", \"pi\"], {\n"} {
		if got := plan(t, "pi").Lines([]byte(text)); got != nil {
			t.Errorf("%q has %q", text, got)
		}
	}
}

// Proves S51: Parse reads a command line as it was written, for any path of the program.
func TestParse(t *testing.T) {
	for _, c := range []install.Command{
		{Program: "/usr/bin/stopgate"},
		{Program: "/usr/bin/stopgate-hook", Small: true},
		{Program: "/o'n/e' f/stopgate-hook", Small: true, Flags: []string{"--policy", "/srv/a 'b' c.toml", "--observe"}},
		{Program: `/größe/"x" $HOME/\stopgate`, Flags: []string{"--store", "sqlite:/x y.db", "--fewer-prompts"}},
		{Program: `C:\Program Files\stopgate\stopgate.exe`},
	} {
		for _, name := range hook.Names() {
			if name == "generic" {
				continue
			}
			p, err := install.Make(name, install.Location{Scope: install.User, Home: "/home/u"}, c)
			if err != nil {
				t.Fatal(err)
			}
			text, err := p.Install(nil)
			if err != nil {
				t.Fatal(err)
			}
			lines := p.Lines(text)
			if len(lines) != 1 {
				t.Fatalf("%s: %q", name, lines)
			}
			got, ok := install.Parse(lines[0])
			if !ok || got.Program != c.Program || got.Small != c.Small || !slices.Equal(got.Flags, c.Flags) {
				t.Errorf("%s: %q is read as %+v (%t), not %+v", name, lines[0], got, ok, c)
			}
			if path, small := install.Program(lines[0]); path != c.Program || small != c.Small {
				t.Errorf("%s: %q starts %q (%t)", name, lines[0], path, small)
			}
		}
	}
	for _, line := range []string{"", "stopgate", "stopgate hook", "stopgate hook codex", `"/x y/stopgate" hook codex --deadline 1s`, "'stopgate hook codex --deadline 1s"} {
		if got, ok := install.Parse(line); ok {
			t.Errorf("%q is read as %+v", line, got)
		}
	}
}

// Proves S51: Home is the directory that a host creates for its settings.
func TestHome(t *testing.T) {
	for name, want := range map[string]string{
		"claude-code": "/home/u/.claude", "copilot-cli": "/home/u/.copilot", "cline": "/home/u/Documents/Cline",
		"opencode": "/home/u/.config/opencode", "kilo": "/home/u/.config/kilo", "pi": "/home/u/.pi/agent", "crush": "/home/u/.config/crush",
	} {
		if got := plan(t, name).Home(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Proves S51: settings that are not plain JSON, or that have other values in place of hooks, are
// not changed.
func TestUnsupportedSettingsAreUnchanged(t *testing.T) {
	p := plan(t, "claude-code")
	for _, text := range []string{"// comment\n{}", "[]", `{"hooks":[]}`, `{"hooks":{"PreToolUse":{}}}`, `{"a":1,"a":2}`, "{"} {
		if after, err := p.Install([]byte(text)); err == nil {
			t.Errorf("%s became %s", text, after)
		}
	}
	if _, err := plan(t, "opencode").Install([]byte("export const Mine = 1")); err == nil {
		t.Error("a file of somebody else was overwritten")
	}
}

// Proves FM9: if the program is missing, crashes or is killed, the command line blocks.
func TestLineBlocksByItself(t *testing.T) {
	for _, host := range []string{"claude-code", "codex", "gemini-cli", "qwen-code", "cursor", "copilot-cli", "crush"} {
		for name, program := range map[string]string{"missing": "/nonexistent/stopgate", "killed": "kill -9 $$; :", "failed": "false"} {
			p, err := install.Make(host, install.Location{Scope: install.Project, Dir: "/srv/p"}, install.Command{Program: "/x/stopgate"})
			if err != nil {
				t.Fatal(err)
			}
			line := strings.Replace(p.Line, "/x/stopgate", program, 1)
			if name == "killed" {
				line = strings.Replace(p.Line, "/x/stopgate", "sh -c 'kill -9 $$'", 1)
			}
			cmd := exec.Command("/bin/sh", "-c", line)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(stderr.String(), "blocked") {
				t.Errorf("%s, %s: exit %d, %q", host, name, code, stderr.String())
			}
		}
	}
}

// Proves S51: uninstalling restores any object.
func TestRoundTrip(t *testing.T) {
	p := plan(t, "gemini-cli")
	property.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "model", "theme", "mcpServers", "x y"}), 1, 4, rapid.ID).Draw(t, "keys")
		space := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\t", "\r\n"})
		value := rapid.SampledFrom([]string{"1", `"hooks"`, "[]", "{}", `{"stopgate hook": [1, 2]}`, "null", "1.50"})
		text := "{" + space.Draw(t, "s")
		for i, k := range keys {
			if i > 0 {
				text += "," + space.Draw(t, "s")
			}
			text += `"` + k + `":` + space.Draw(t, "s") + value.Draw(t, "v") + space.Draw(t, "s")
		}
		text += "}" + space.Draw(t, "s")
		after, err := p.Install([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		gone, err := p.Uninstall(after)
		if err != nil || string(gone) != text {
			t.Fatalf("%q became %q over %q: %v", text, gone, after, err)
		}
	})
}
