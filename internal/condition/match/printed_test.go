package match_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/match"
)

// Proves E7, E11, I2: a text that cat prints into a word is that word. It satisfies the same
// conditions as the quoted text, and restrictive conditions still match the text, the paths in it,
// and cat itself.
func TestE11_Printed(t *testing.T) {
	const message = "feat(x): it's done (#1)\n\nCo-Authored-By: A <a@example.com>"
	printed := func(text string) string { return "\"$(cat <<'EOF'\n" + text + "\nEOF\n)\"" }
	for _, c := range []struct {
		name  string
		spec  match.Spec
		line  string
		grant bool
	}{
		{"a usage", spec(match.Usage, "git commit [-a|-m *]"), "git commit -am " + printed(message), true},
		{"a usage, as a value", spec(match.Usage, "git commit [--message *]"), "git commit --message=" + printed(message), true},
		{"a prefix", spec(match.Prefix, "git commit -m"), "git commit -m " + printed(message), true},
		{"another usage", spec(match.Usage, "git commit [-m *]"), "git commit --no-verify -m " + printed(message), false},
		{"an option", spec(match.Usage, "git commit [-m *] **"), "git commit -m x " + printed("--no-verify"), false},
		{"a second one", spec(match.Usage, "git commit [-m *]"), "git commit -m " + printed("a") + " && git push", false},
		{"what is excluded", spec(match.Usage, "find [-*] [!-delete] **"), "find . " + printed("-delete"), false},
		{"a word of the rule", spec(match.Usage, "git status"), "git " + printed("status"), false},
		{"a program", spec(match.Usage, "git status"), printed("git") + " status", false},
		{"words of the rule", spec(match.Prefix, "git status"), printed("git status"), false},
		{"a pattern for a line", spec(match.Pattern, `(?:^|\n)ls$`), "rm -m " + printed("x\nls"), false},
		{"a pattern", spec(match.Pattern, `^git commit -m `), "git commit -m " + printed("x"), true},
		{"a pattern and several lines", spec(match.Pattern, `^git commit -m `), "git commit -m " + printed("x\ny"), false},
		{"a pattern and several lines in quotes", spec(match.Pattern, `^git commit -m `), "git commit -m 'x\ny'", false},
		{"several lines in quotes", spec(match.Usage, "git commit [-m *]"), "git commit -m \"x\n\n- it's\" && git commit -m 'y\n\nz'", true},
		{"a line behind them", spec(match.Usage, "git commit [-m *]"), "git commit -m 'x\ny'\nrm x", false},
		{"a suffix", spec(match.Suffix, "ls"), "rm " + printed("x\nls"), false},
		{"an expanding text", spec(match.Usage, "git commit [-m *]"), strings.Replace("git commit -m "+printed("x"), "'EOF'", "EOF", 1), false},
		{"another program prints", spec(match.Usage, "git commit [-m *]"), strings.Replace("git commit -m "+printed("x"), "cat", "tac", 1), false},
		{"a file as well", spec(match.Usage, "git commit [-m *]"), strings.Replace("git commit -m "+printed("x"), "cat", "cat .env", 1), false},
		{"a script", spec(match.Usage, "bash [-c] <command>", "ls", "pwd"), "bash -c " + printed("ls\npwd"), true},
		{"a script with another command", spec(match.Usage, "bash [-c] <command>", "ls", "pwd"), "bash -c " + printed("ls\nrm x"), false},
	} {
		if got := compile(t, c.spec, aCommand, permissive, project).Match([]byte(c.line)); got != c.grant {
			t.Errorf("%s: %q grants %v, want %v", c.name, c.line, got, c.grant)
		}
	}
	for _, c := range []struct {
		name string
		spec match.Spec
		line string
		want bool
	}{
		{"a word", spec(match.Usage, "rm ** / **"), "rm -rf " + printed("/"), true},
		{"words", spec(match.Pattern, "Co-Authored-By"), "git commit -m " + printed(message), true},
		{"a script", spec(match.Prefix, "rm"), "bash -c " + printed("ls\nrm x"), true},
		{"a script in a line that is not plain", spec(match.Prefix, "rm"), "X=1 bash -c " + printed("ls\nrm x"), true},
		{"a program", spec(match.Prefix, "rm"), printed("rm") + " x", true},
		{"cat", spec(match.Usage, "cat **"), "git commit -m " + printed("x"), true},
		{"cat behind another command", spec(match.Prefix, "cat"), "git add . && git commit -m " + printed("x"), true},
		{"not its neighbour", spec(match.Prefix, "tac"), "git commit -m " + printed("tac x"), false},
		{"a file that is read", spec(match.Reads, "**/.env"), "sort " + printed(".env"), true},
		{"a file that is written", spec(match.Writes, "**/.env"), "ls > " + printed(".env\n"), true},
		{"a message names none", spec(match.Reads, "**/.env"), "git commit -m " + printed(".env"), false},
	} {
		if got := compile(t, c.spec, aCommand, restrictive, project).Match([]byte(c.line)); got != c.want {
			t.Errorf("%s: %q is caught %v, want %v", c.name, c.line, got, c.want)
		}
	}
}
