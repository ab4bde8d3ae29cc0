package kinds_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
)

// Proves E7, E11, I2: a text that cat prints into a word is that word. It satisfies the same
// conditions as the quoted text, and restrictive conditions still match the text, the paths in it,
// and cat itself.
func TestE11_Printed(t *testing.T) {
	const message = "feat(x): it's done (#1)\n\nCo-Authored-By: A <a@example.com>"
	printed := func(text string) string { return "\"$(cat <<'EOF'\n" + text + "\nEOF\n)\"" }
	for _, c := range []struct {
		name  string
		spec  condition.Spec
		line  string
		grant bool
	}{
		{"a usage", spec(condition.Usage, "git commit [-a|-m *]"), "git commit -am " + printed(message), true},
		{"a usage, as a value", spec(condition.Usage, "git commit [--message *]"), "git commit --message=" + printed(message), true},
		{"a prefix", spec(condition.Prefix, "git commit -m"), "git commit -m " + printed(message), true},
		{"another usage", spec(condition.Usage, "git commit [-m *]"), "git commit --no-verify -m " + printed(message), false},
		{"an option", spec(condition.Usage, "git commit [-m *] **"), "git commit -m x " + printed("--no-verify"), false},
		{"a second one", spec(condition.Usage, "git commit [-m *]"), "git commit -m " + printed("a") + " && git push", false},
		{"what is excluded", spec(condition.Usage, "find [-*] [!-delete] **"), "find . " + printed("-delete"), false},
		{"a word of the rule", spec(condition.Usage, "git status"), "git " + printed("status"), false},
		{"a program", spec(condition.Usage, "git status"), printed("git") + " status", false},
		{"words of the rule", spec(condition.Prefix, "git status"), printed("git status"), false},
		{"a pattern for a line", spec(condition.Pattern, `(?:^|\n)ls$`), "rm -m " + printed("x\nls"), false},
		{"a pattern", spec(condition.Pattern, `^git commit -m `), "git commit -m " + printed("x"), true},
		{"a pattern and several lines", spec(condition.Pattern, `^git commit -m `), "git commit -m " + printed("x\ny"), false},
		{"a pattern and several lines in quotes", spec(condition.Pattern, `^git commit -m `), "git commit -m 'x\ny'", false},
		{"several lines in quotes", spec(condition.Usage, "git commit [-m *]"), "git commit -m \"x\n\n- it's\" && git commit -m 'y\n\nz'", true},
		{"a line behind them", spec(condition.Usage, "git commit [-m *]"), "git commit -m 'x\ny'\nrm x", false},
		{"a suffix", spec(condition.Suffix, "ls"), "rm " + printed("x\nls"), false},
		{"an expanding text", spec(condition.Usage, "git commit [-m *]"), strings.Replace("git commit -m "+printed("x"), "'EOF'", "EOF", 1), false},
		{"another program prints", spec(condition.Usage, "git commit [-m *]"), strings.Replace("git commit -m "+printed("x"), "cat", "tac", 1), false},
		{"a file as well", spec(condition.Usage, "git commit [-m *]"), strings.Replace("git commit -m "+printed("x"), "cat", "cat .env", 1), false},
		{"a script", spec(condition.Usage, "bash [-c] <command>", "ls", "pwd"), "bash -c " + printed("ls\npwd"), true},
		{"a script with another command", spec(condition.Usage, "bash [-c] <command>", "ls", "pwd"), "bash -c " + printed("ls\nrm x"), false},
	} {
		if got := compile(t, c.spec, aCommand, permissive, project).Match([]byte(c.line)); got != c.grant {
			t.Errorf("%s: %q grants %v, want %v", c.name, c.line, got, c.grant)
		}
	}
	for _, c := range []struct {
		name string
		spec condition.Spec
		line string
		want bool
	}{
		{"a word", spec(condition.Usage, "rm ** / **"), "rm -rf " + printed("/"), true},
		{"words", spec(condition.Pattern, "Co-Authored-By"), "git commit -m " + printed(message), true},
		{"a script", spec(condition.Prefix, "rm"), "bash -c " + printed("ls\nrm x"), true},
		{"a script in a line that is not plain", spec(condition.Prefix, "rm"), "X=1 bash -c " + printed("ls\nrm x"), true},
		{"a program", spec(condition.Prefix, "rm"), printed("rm") + " x", true},
		{"cat", spec(condition.Usage, "cat **"), "git commit -m " + printed("x"), true},
		{"cat behind another command", spec(condition.Prefix, "cat"), "git add . && git commit -m " + printed("x"), true},
		{"not its neighbour", spec(condition.Prefix, "tac"), "git commit -m " + printed("tac x"), false},
		{"a file that is read", spec(condition.Reads, "**/.env"), "sort " + printed(".env"), true},
		{"a file that is written", spec(condition.Writes, "**/.env"), "ls > " + printed(".env\n"), true},
		{"a message names none", spec(condition.Reads, "**/.env"), "git commit -m " + printed(".env"), false},
	} {
		if got := compile(t, c.spec, aCommand, restrictive, project).Match([]byte(c.line)); got != c.want {
			t.Errorf("%s: %q is caught %v, want %v", c.name, c.line, got, c.want)
		}
	}
}
