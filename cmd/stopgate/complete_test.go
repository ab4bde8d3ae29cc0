package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
)

// Proves that shells complete the words of flags, and names of files only where a
// command takes files.
func TestCompletion(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"log --mode ", "unattended ask edit skip deny :4"},
		{"log --status d", "denied :4"},
		{"log --status denied,s", "denied,skipped :4"},
		{"log --surface m", "mcp :4"},
		{"log --event lo", "lockdown :4"},
		{"events --type dec", "decision :4"},
		{"up --log-level ", "debug info warn error :4"},
		{"mcp --log-format ", "text json :4"},
		{"agent --api an", "anthropic :4"},
		{"replay --fail-on ", "loosened any :4"},
		{"help mcp ", "pin :4"},
		{"up ", ":4"},
		{"approvals answer ", ":4"},
		{"mcp pin show ", ":4"},
		{"replay ", ":0"},
		{"log verify ", ":0"},
		{"check ", "toml :8"},
		{"install cl", "claude-code cline :4"},
	} {
		out, err := exec.Command("stopgate", append([]string{"__completeNoDesc"}, strings.Split(test.line, " ")...)...).Output()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != test.want {
			t.Errorf("stopgate %s: %q, want %q (%v)", test.line, got, test.want, err)
		}
	}
}

// Proves that every command writes for programs on demand, but those whose output always
// is a protocol, JSON or a script, and the conversation that watch has at a terminal.
func TestEveryCommandHasAFormat(t *testing.T) {
	without := []string{"bundle", "completion", "connect", "hook", "hook serve", "log export", "mcp", "schema", "serve", "up", "approvals watch"}
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "stopgate ")
		if has := cmd.Flags().Lookup("format") != nil; has == slices.Contains(without, name) && cmd.Name() != "help" {
			t.Errorf("%s: --format is %t", name, has)
		}
		if name == "completion" {
			return // below it are the shells
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				look(sub)
			}
		}
	}
	for _, cmd := range commands.New(cli.Streams{}).Commands() {
		if cmd.IsAvailableCommand() {
			look(cmd)
		}
	}
}

// Proves that help shows how each command is typed, but of those whose usage says all.
func TestExamples(t *testing.T) {
	plain := []string{"version", "help", "completion"}
	for _, cmd := range commands.New(cli.Streams{}).Commands() {
		if cmd.IsAvailableCommand() && cmd.Example == "" && !slices.Contains(plain, cmd.Name()) {
			t.Errorf("%s has no example", cmd.Name())
		}
		for line := range strings.Lines(cmd.Example) {
			if rest, ok := strings.CutPrefix(line, "  stopgate "); ok {
				flagsExist(t, cmd, rest)
			}
		}
	}
}

// flagsExist looks for the flags of an example at its command and those below it.
func flagsExist(t *testing.T, cmd *cobra.Command, line string) {
	t.Helper()
	words, _, _ := strings.Cut(line, " -- ")
	fields := strings.Fields(words)
	if len(fields) == 0 || fields[0] != cmd.Name() {
		t.Errorf("an example of %s: %s", cmd.Name(), line)
		return
	}
	at := cmd
	for _, word := range fields[1:] {
		for _, sub := range at.Commands() {
			if sub.Name() == word {
				at = sub
			}
		}
		if name, ok := strings.CutPrefix(word, "--"); ok {
			name, _, _ = strings.Cut(name, "=")
			if at.Flags().Lookup(name) == nil {
				t.Errorf("an example of %s has --%s: %s", cmd.Name(), name, line)
			}
		}
	}
}
