package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/servers"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
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

// Shells complete what is in the store and in the policy: tools, sessions, principals, codes, and the ids
// of calls, questions and grants. Without a store, or with one that cannot be read, there are no words and
// no message.
func TestCompletionLooksUp(t *testing.T) {
	dir := t.TempDir()
	store := dir + "/s.db"
	if err := seedStore(store, "", "p.toml", "version = 1\n[tools.t]\npolicy.run = \"ask\"\n", "s1 t {\"a\":1}\ns2 u {\"a\":2}\n"); err != nil {
		t.Fatal(err)
	}
	s, err := servers.Open(t.Context(), store, backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := approvals.Entry("QUESTION")
	e.Expires = time.Now().Add(time.Hour)
	if _, err := s.AddEntry(t.Context(), e, func(approve.Entry) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if err := s.AddGrant(t.Context(), approve.Grant{ID: "GRANT", Tool: "t", Made: time.Now(), Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir + "/" + name
	}
	rules := write("p.toml", "version = 1\n[tools.t]\npolicy.run = \"ask\"\n[tools.other]\npolicy.run = \"ask\"\n[tools.\"fs_*\"]\npolicy.run = \"ask\"\n")
	broken := write("broken.db", "this is no database")
	for _, c := range []struct{ line, want string }{
		{"log --store STORE --tool ", "u t :4"},
		{"log --store STORE --session s", "s2 s1 :4"},
		{"log --store STORE --principal ", "local :4"},
		{"sessions show --store STORE s2", "s2 :4"},
		{"approvals answer --store STORE ", "QUESTION :4"},
		{"approvals show --store STORE ", "QUESTION :4"},
		{"grants revoke --store STORE ", "GRANT :4"},
		{"grants revoke --store STORE GRANT ", ":4"},
		{"decide --policy POLICY --tool ", "other t :4"},
		{"log --policy POLICY --rule ", "c479027d2cf01e555b789e5b24ca62fa 4dcf02cf80a6931c6a8386189f26e8f9 27017325f71fcf1a5efed2c67fd22056 :4"},
		{"explain --policy POLICY c4", "c479027d2cf01e555b789e5b24ca62fa :4"},
		{"events --policy NONE --rule ", ":4"},
		{"log --store NONE --tool ", ":4"},
		{"approvals show --store NONE ", ":4"},
		{"approvals show --store BROKEN ", ":4"},
		{"log --store BROKEN --session ", ":4"},
		{"decide --policy NONE --tool ", ":4"},
	} {
		line := strings.NewReplacer("STORE", "sqlite:"+store, "POLICY", rules, "NONE", dir+"/none", "BROKEN", "sqlite:"+broken).Replace(c.line)
		var out, talk strings.Builder
		code := run(append([]string{"__completeNoDesc"}, strings.Split(line, " ")...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk})
		got := strings.Join(strings.Fields(out.String()), " ")
		if code != cli.ExitOK || got != c.want || strings.Contains(talk.String(), "stopgate:") {
			t.Errorf("stopgate %s: exit %d, %q, want %q (%s)", c.line, code, got, c.want, &talk)
		}
	}
}
