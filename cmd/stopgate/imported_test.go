package main

import (
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/knowntools"
)

// Rules that were imported for a coding agent fit every tool of it that its hook knows: no
// table declares a parameter that the tool does not have.
func TestImportedRulesFitTheHost(t *testing.T) {
	for _, c := range []struct{ source, host, file, rules string }{
		{"claude-settings", "claude-code", "settings.json", `{"permissions":{"deny":["Edit(~/.ssh/**)","Read(./.env)","WebFetch(domain:x.example)"],"allow":["Edit(/src/**)","Bash(ls:*)","Agent(a)"]}}`},
		{"gemini-policy", "gemini-cli", "rules.toml", "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"ls\"\ndecision = \"allow\"\npriority = 100\n[[rule]]\ntoolName = \"write_file\"\ndecision = \"deny\"\npriority = 200\n"},
		{"opencode", "opencode", "opencode.json", `{"permission":{"edit":{"*.env":"deny","*":"ask"},"bash":{"ls *":"allow"},"webfetch":"ask"}}`},
		{"kilo", "kilo", "kilo.json", `{"permission":{"edit":{"*.env":"deny","*":"ask"},"bash":{"ls *":"allow"},"webfetch":"ask"}}`},
		{"codex-rules", "codex", "default.rules", "prefix_rule(pattern = [\"ls\"], decision = \"allow\")\n"},
	} {
		liveIn(t, "version = 1\n")
		writeIn(t, ".", c.file, c.rules)
		if err := os.Remove("p.toml"); err != nil {
			t.Fatal(err)
		}
		if code, _, talk := runCommand("import", c.source, c.file, "-o", "p.toml"); code != 0 {
			t.Fatalf("%s: %s", c.source, talk)
		}
		asked := 0
		for _, tool := range knowntools.ForHost(c.host).Tools() {
			for _, name := range tool.Names {
				d := decideHere(t, "--as", c.host, "--tool", name, "--args", "{}")
				if d.Code == "policy_invalid_for_schema" {
					t.Errorf("%s: %s: %+v", c.host, name, d)
				}
				asked++
			}
		}
		if asked < 3 {
			t.Errorf("%s: %d tools are known", c.host, asked)
		}
	}
}

// A rule about files in the home directory denies these and no other file.
func TestImportedRuleAboutTheHome(t *testing.T) {
	liveIn(t, "version = 1\n")
	writeIn(t, ".", "settings.json", `{"permissions":{"deny":["Edit(~/.ssh/**)"]}}`)
	if err := os.Remove("p.toml"); err != nil {
		t.Fatal(err)
	}
	if code, _, talk := runCommand("import", "claude-settings", "settings.json", "-o", "p.toml"); code != 0 {
		t.Fatal(talk)
	}
	for path, want := range map[string]string{"~/.ssh/id": "deny", os.Getenv("HOME") + "/.ssh/id": "deny", "src/a.go": "ask"} {
		for tool, rest := range map[string]string{"Edit": `"old_string":"a","new_string":"b"`, "MultiEdit": `"edits":[]`, "Write": `"content":"a"`} {
			if d := decideHere(t, "--as", "claude-code", "--tool", tool, "--args", `{"file_path":"`+path+`",`+rest+`}`); d.Mode != want {
				t.Errorf("%s %s: %+v, want %s", tool, path, d, want)
			}
		}
	}
}
