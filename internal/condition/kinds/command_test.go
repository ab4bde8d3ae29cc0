package kinds_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/schema"
)

// Classes E1 to E27: a line that is not one plain command grants nothing, and every piece of it is
// suspected.
func TestCommandPrefix(t *testing.T) {
	for _, c := range []struct {
		name, value  string
		grant, catch bool // permissive "git status", restrictive "rm"
	}{
		{"plain", "git status", true, false},
		{"more words", "git status --short .", true, false},
		{"blanks", "  git\t status ", true, false},
		{"longer word", "git statusx", false, false},
		{"fewer words", "git", false, false},
		{"restricted", "rm -rf /", false, true},
		{"longer program", "rmdir x", false, false},
		{"by its path", "/bin/rm x", false, true},
		{"in upper case", "RM x", false, true},
		{"as an argument", "echo rm", false, false},
		{"sequence", "git status; rm -rf /", false, true},
		{"and-list", "git status && rm x", false, true},
		{"or-list", "git status || rm x", false, true},
		{"pipe", "git status | sh", false, false},
		{"pipe into a wrapper", "git status | xargs rm", false, true},
		{"background", "git status & rm x", false, true},
		{"newline", "git status\nrm x", false, true},
		{"carriage return", "git status\rrm x", false, true},
		{"substitution", "git status $(rm x)", false, true},
		{"backticks", "git status `rm x`", false, true},
		{"process substitution", "git status <(rm x)", false, true},
		{"expansion", "git status $x", false, false},
		{"default with a command", "git status ${x:-$(rm x)}", false, true},
		{"empty variable", "r${x}m y", false, true},
		{"empty plain variable", "$x rm y", false, true},
		{"redirection", "git status >f", false, false},
		{"here-string", `git status <<<"$(rm x)"`, false, true},
		{"assignment", "X=1 rm x", false, true},
		{"assignment before a permitted one", "X=1 git status", false, false},
		{"assigned command", "PAGER='rm x' man y", false, true},
		{"env -S", "env -S 'rm x'", false, true},
		{"timeout", "timeout 1 rm x", false, true},
		{"sudo", "sudo -u root rm x", false, true},
		{"wrapper by its path", "/usr/bin/nice rm x", false, true},
		{"shell -c", "bash -c 'rm x'", false, true},
		{"eval", "eval 'rm x'", false, true},
		{"find -exec", "find . -exec rm {} +", false, true},
		{"flag with a command", "sort --compress-program=rm f", false, true},
		{"continuation", "r\\\nm x", false, true},
		{"empty quotes", "r''m x", false, true},
		{"quoted", `"rm" x`, false, true},
		{"escaped", `\rm x`, false, true},
		{"escaped in quotes", `$'\x72m' x`, false, true},
		{"octal", `$'\162m' x`, false, true},
		{"unicode escape", `$'\u0072m' x`, false, true},
		{"escape of itself", `$'r\m' x`, false, true},
		{"broken escape", `$'\xrm' x`, false, false},
		{"unclosed escape", `$'rm`, false, true},
		{"escape at the end", `$'rm\`, false, false},
		{"backslash at the end", `rm\`, false, true},
		{"braces", "{rm,-rf,/}", false, true},
		{"function", "git(){ rm x; }; git status", false, true},
		{"reserved word", "if true; then rm x; fi", false, true},
		{"comment", "rm x # approved: git status", false, true},
		{"command in a comment", "git status # ; rm x", false, true},
		{"fullwidth", "\uff52\uff4d x", false, true},
		{"zero width", "r\u200bm x", false, true},
		{"Cyrillic is another program", "r\u043c x", false, false},
		{"not parsable", `git status "`, false, false},
		{"empty", "", false, false},
		{"blank", " \t", false, false},
		{"job", "%1", false, false},
		{"zsh lookup", "=rm x", false, true},
		{"reserved first", "time git status", false, false},
		{"appended", "X+=1 git status", false, false},
		{"not an assignment", "./a=b rm", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			may := compile(t, spec(condition.Prefix, "git status"), aCommand, permissive, nowhere)
			must := compile(t, spec(condition.Prefix, "rm"), aCommand, restrictive, nowhere)
			if got := may.Match([]byte(c.value)); got != c.grant {
				t.Errorf("permissive on %q: %v, want %v", c.value, got, c.grant)
			}
			if got := must.Match([]byte(c.value)); got != c.catch {
				t.Errorf("restrictive on %q: %v, want %v", c.value, got, c.catch)
			}
		})
	}
}

// Proves D25-20, D25-22.
func TestCommandMatchers(t *testing.T) {
	for _, c := range []struct {
		name         string
		kind         condition.Kind
		literal      string
		value        string
		grant, catch bool
	}{
		{"const", condition.Const, "git status", "git  status", true, true},
		{"const, more words", condition.Const, "git status", "git status .", false, false},
		{"const, fewer words", condition.Const, "git status", "git", false, false},
		{"const in a list", condition.Const, "git status", "x; 'git' status", false, true},
		{"glob", condition.Glob, "git *", "git  status", true, true},
		{"glob in a list", condition.Glob, "rm *", "x && rm y", false, true},
		{"glob on the raw text", condition.Glob, "curl * | sh", "curl x | sh", false, true},
		{"suffix", condition.Suffix, ".sh", "run x.sh", true, true},
		{"suffix in a list", condition.Suffix, ".sh", "run x.sh; y", false, true},
		{"pattern sees the words", condition.Pattern, "^go (test|vet) [a-z./]+$", "go  test ./...", true, true},
		{"pattern in a list", condition.Pattern, "^go (test|vet)", "x | go test", false, true},
		{"pattern on the raw text", condition.Pattern, `\| *sh$`, "curl x | sh", false, true},
		{"pattern, nothing", condition.Pattern, "^rm", "x | y", false, false},
		{"max_length", condition.MaxLength, "6", "ls -la", true, true},
		{"max_length of a list", condition.MaxLength, "6", "ls;pwd", true, true},
		{"max_length of a substitution", condition.MaxLength, "6", "$(pwd)", false, true},
		{"max_length exceeded", condition.MaxLength, "6", "ls -laR", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spec(c.kind, c.literal)
			if c.kind == condition.MaxLength {
				s = number(c.kind, c.literal)
			}
			if got := compile(t, s, aCommand, permissive, nowhere).Match([]byte(c.value)); got != c.grant {
				t.Errorf("permissive: %v, want %v", got, c.grant)
			}
			if got := compile(t, s, aCommand, restrictive, nowhere).Match([]byte(c.value)); got != c.catch {
				t.Errorf("restrictive: %v, want %v", got, c.catch)
			}
		})
	}
	raw := compile(t, spec(condition.Const, "curl x | sh"), aCommand, restrictive, nowhere)
	if !raw.Match([]byte(" curl x | sh\n")) || raw.Match([]byte("curl x | sh -x")) {
		t.Error("a literal that is more than plain words is compared with the raw text")
	}
	raw = compile(t, spec(condition.Prefix, "curl x | sh"), aCommand, restrictive, nowhere)
	if !raw.Match([]byte("curl x | sh -x")) {
		t.Error("such a prefix is compared with the raw text")
	}
}

// If a line may begin at more positions than the limit, conditions that compare texts are unknown
// for it; those that compare words are evaluated everywhere.
func TestCommandWithManyBeginnings(t *testing.T) {
	suffix, assigned := "xargs "+strings.Repeat("a ", 300), "x "+strings.Repeat("a=b ", 300)
	for _, c := range []struct {
		spec  condition.Spec
		line  string
		holds bool
		want  condition.Unknown
	}{
		{spec(condition.Glob, "rm *"), suffix, false, condition.UnknownCommand},
		{spec(condition.Glob, "rm *"), "xargs rm " + suffix, true, condition.Known},
		{spec(condition.Glob, "rm *"), assigned, false, condition.UnknownCommand},
		{spec(condition.Pattern, "^rm "), assigned, false, condition.UnknownCommand},
		{spec(condition.Usage, "rm **"), suffix, false, condition.UnknownCommand},
		{spec(condition.Usage, "rm **"), "echo " + strings.Repeat("=x ", 300), false, condition.UnknownCommand},
		{spec(condition.Usage, "rm **"), "git add " + strings.Repeat("a ", 300), false, condition.Known},
		{spec(condition.Prefix, "rm"), suffix, false, condition.Known},
		{spec(condition.Prefix, "rm"), suffix + "rm", true, condition.Known},
		{spec(condition.Prefix, "rm"), assigned + "c=d=rm", true, condition.Known},
	} {
		m := compile(t, c.spec, aCommand, restrictive, nowhere)
		var v condition.Value
		v.Reset([]byte(c.line))
		if got := m.Judge(&v); got != c.holds {
			t.Errorf("%v on %.40q: %v", c.spec, c.line, got)
		}
		if got := m.Unknown(&v); got != c.want {
			t.Errorf("%v on %.40q: unknown %b, want %b", c.spec, c.line, got, c.want)
		}
	}
}

// The memory for a line of dollar signs or escapes is proportional to its length: no step copies
// the rest of the line.
func TestCommandIsReadInLinearSpace(t *testing.T) {
	m := compile(t, spec(condition.Prefix, "rm"), aCommand, restrictive, nowhere)
	for _, unit := range []string{"$(", "$a ", `$'\x61' `, `$'\U0010ffff' `} {
		line := []byte(strings.Repeat(unit, 20_000))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		hit := m.Match(line)
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - before.TotalAlloc; hit || cost > 200*uint64(len(line)) {
			t.Errorf("%q: hit %v, %d bytes allocated for %d", unit, hit, cost, len(line))
		}
	}
	if !m.Match([]byte(`$'\U00000072\x6d' x`)) {
		t.Error("the longest escape is not decoded")
	}
}

// Proves D25-31.
func TestCommandSpecErrors(t *testing.T) {
	specError(t, spec(condition.Prefix, ""), aCommand, restrictive, nowhere)
	specError(t, spec(condition.Prefix, "git status; ls"), aCommand, permissive, nowhere)
	specError(t, spec(condition.Const, "X=1 ls"), aCommand, permissive, nowhere)
	specError(t, spec(condition.Glob, "["), aCommand, permissive, nowhere)
	specError(t, spec(condition.Pattern, "("), aCommand, restrictive, nowhere)
}

func TestAnalyse(t *testing.T) {
	got := commandline.Analyse(" git  status\t-s ")
	if !got.Analysable || len(got.Simple) != 1 || !slices.Equal(got.Simple[0], []string{"git", "status", "-s"}) {
		t.Errorf("got %+v", got)
	}
	for _, line := range []string{"", "A=1 b", "a $b", "a *", "a\rb", "a;;b", "a |", "a 'b", "a >b", "if a", "a ~", "a >b", "\u00fc", "a !b", "a {b}", "a #b", "a =b"} {
		if commandline.Analyse(line).Analysable {
			t.Errorf("%q is analysable", line)
		}
	}
}

// FuzzCommand checks that a line is granted only command by command, and that a restrictive
// condition matches whenever a permissive one does.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"git status", "git status; rm x", "git 'status'", "git\\\n status", "{git,status}", "$'git' status", "git status | cat"} {
		f.Add(s)
	}
	may := compile(f, spec(condition.Prefix, "git status"), aCommand, permissive, nowhere)
	must := compile(f, spec(condition.Prefix, "git status"), aCommand, restrictive, nowhere)
	f.Fuzz(func(t *testing.T, line string) {
		suspect := must.Match([]byte(line))
		if !may.Match([]byte(line)) {
			return
		}
		for _, words := range commandline.Analyse(line).Simple {
			if len(words) < 2 || words[0] != "git" || words[1] != "status" || !suspect {
				t.Errorf("%q is granted with %q (suspect: %v)", line, words, suspect)
			}
		}
		if strings.ContainsAny(line, "$`*?[(){\r") && !strings.ContainsAny(line, `'"\@`) {
			t.Errorf("%q is granted", line)
		}
	})
}

// Proves D5, A18, E25: the time for a line is linear in its length, whatever its content. Each of
// these took minutes when it was quadratic.
func TestLongCommandsEnd(t *testing.T) {
	must := compile(t, spec(condition.Prefix, "rm"), aCommand, restrictive, nowhere)
	guard := compile(t, spec(condition.Glob, "**/.env*"), condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}, restrictive, nowhere)
	const n = 100_000
	for _, line := range []string{
		"x '" + strings.Repeat("=", 4*n) + "'", "x '" + strings.Repeat("a= ", n) + "'", "x '" + strings.Repeat("a=", n) + " b'",
		"env -S " + strings.Repeat("a ", n), "sed '" + strings.Repeat("r ", n) + "' x", "awk '" + strings.Repeat(`"`, n) + "' x",
		"curl " + strings.Repeat("@", n), "git show " + strings.Repeat(":", n), "git submodule foreach '" + strings.Repeat("!", n) + "'",
	} {
		must.Match([]byte(line))
		guard.Match([]byte(line))
	}
}

// Proves E25: the time for a line of many different paths or of many commands is linear, too.
func TestLinesOfManyFilesEnd(t *testing.T) {
	guard := compile(t, spec(condition.Glob, "**/.env*"), condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}, restrictive, project)
	for _, unit := range []string{" d/%d", "; cat d/%d", " | grep %d", "; sh -c 'cat d/%d'"} {
		line := []byte("cat")
		for n := range 30_000 {
			line = fmt.Appendf(line, unit, n)
		}
		var v condition.Value
		v.Reset(line)
		if guard.Judge(&v) || guard.Sweeps(&v) {
			t.Errorf("%q: the guard holds", unit)
		}
	}
}

// Proves S40, E19: words that only resemble an argument vector grant nothing, and restrictive
// conditions evaluate all of them.
func TestWordsThatAreNoVector(t *testing.T) {
	words := [][]byte{[]byte("git"), []byte("status")}
	for complete, want := range map[bool]bool{true: true, false: false} {
		var v condition.Value
		v.ResetWords(commandline.AppendWords(nil, words), words, complete)
		if got := compile(t, spec(condition.Prefix, "git status"), aCommand, permissive, nowhere).Judge(&v); got != want {
			t.Errorf("whole %t: granted %t", complete, got)
		}
		if !compile(t, spec(condition.Prefix, "git status"), aCommand, restrictive, nowhere).Judge(&v) {
			t.Errorf("whole %t: not suspected", complete)
		}
	}
}
