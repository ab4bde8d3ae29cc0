package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// show formats the properties of a line: "plain:" or "odd:", and the commands, indented by ">" for
// each level of unwrapping, followed by their redirections.
func show(line string) string {
	var l shell.Line
	l.Read([]byte(line))
	var b strings.Builder
	switch {
	case l.Plain:
		b.WriteString("plain:")
	case l.Complete:
		b.WriteString("odd:")
	default:
		b.WriteString("unknown:")
	}
	for i, c := range l.Commands {
		if i > 0 {
			b.WriteString(" /")
		}
		for p := c.Parent; p >= 0; p = l.Commands[p].Parent {
			b.WriteString(" >")
		}
		for _, w := range c.Words {
			text := string(w.Text)
			if text == "" || strings.ContainsAny(text, " ") {
				text = fmt.Sprintf("%q", text)
			}
			b.WriteString(" " + text)
		}
		for _, r := range c.Redirects {
			b.WriteString(map[bool]string{true: " w:", false: " r:"}[r.Write] + string(r.Target.Text))
		}
		for _, mark := range []struct {
			set  bool
			text string
		}{{c.Runs, " [runs]"}, {c.Open, " [open]"}, {c.Moved, " [moved]"}} {
			if mark.set {
				b.WriteString(mark.text)
			}
		}
	}
	return b.String()
}

// Proves E16: words that a builtin evaluates again, and words that another program combines, are no
// plain commands.
func TestEvaluated(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool // may be permitted
	}{
		{"printf %s x", true}, {"printf -v PATH x", false}, {"printf -vPATH x", false}, {"printf %d 'a[$(x)]'", false}, {"printf '[%s]' x", true},
		{"test -f x", true}, {"test -v x", false}, {"test 'a[`x`]' -eq 1", false}, {"test -n 'a[1]'", true},
		{"nm x", true}, {"nm --plugin x y", false}, {"nm --plu=x y", false}, {"man ls", true}, {"man -C x ls", false},
		{"xargs -I {} cat {}", true}, {"xargs -I cat cat f", false}, {"xargs -Icat cat f", false}, {"xargs --replace=at cat f", false}, {"xargs -0I cat cat f", false},
		{"find . -exec cat {} \\;", true}, {"find . -exec sh -c 'cat x' \\;", true}, {"find . -exec sh -c 'cat {}' \\;", false},
		{"find . -exec timeout 5 sh -c 'cat {}' \\;", false}, {"git rebase -i a", true}, {"git rebase -x y a", false}, {"git bisect start", true}, {"git bisect run y", false}, {"git clone a", true},
		{"tar xf a", true}, {"tar xfI a b", false}, {"tar cf .I b", true}, {"less f", true}, {"less +!y f", false},
		{"find . -execdir bash -c 'cat \"{}\"' +", false},
	} {
		var l shell.Line
		l.Read([]byte(c.line))
		got := l.Plain
		for _, command := range l.Commands {
			got = got && !command.Runs
		}
		if got != c.want {
			t.Errorf("%s: may be permitted: %v, want %v", c.line, got, c.want)
		}
	}
}

// Proves E1, E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13, E14, E15, E16, E18, E19, E20, E21,
// E22, E23, E27: every command of a line is found, and a line is plain only if that is certain.
func TestRead(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"git status", "plain: git status"},
		{"  git\t status ", "plain: git status"},
		{"git status; rm -rf /", "plain: git status / rm -rf /"},
		{"a && b || c | d & e\nf", "plain: a / b / c / d / e / f"},
		{"a |\n b", "plain: a / b"},
		{"a |& b", "odd: a / b"},
		{"a\rb", "unknown: a / b"},
		{"a;; b", "unknown: a / b"},
		{"a |", "unknown: a"},
		{"(a; b)", "plain: a / b"},
		{"{ a; b; }", "plain: a / b"},
		{"! a", "plain: a"},
		{"if a; then b; elif c; then d; else e; fi", "plain: a / b / c / d / e"},
		{"while a; do b; done", "plain: a / b"},
		{"for x in $(a); do b; done", "plain: a / b"},
		{"case $(a) in x) b;; esac", "plain: a / b"},
		{"f() { a; }; f", "odd: a / f"},
		{"coproc a", "odd: a"},
		{"a $(b $(c))", `odd: a "" / b "" / c`},
		{"a `b`", `odd: a "" / b`},
		{"a <(b)", `odd: a "" / b`},
		{"a $((1 + $(b)))", `odd: a "" / b`},
		{"a ${x:-$(b)}", `odd: a "" / b`},
		{"a <<E\n$(b)\nE", "odd: a / b"},
		{"a <<'E'\n$(b)\nE", "odd: a"},
		{"bash <<E\na; b\nE", "odd: bash / > a / > b"},
		{"sh <<< 'a b'", "odd: sh / > a b"},
		{"[[ -n $(a) ]]", "plain: [[ -n $(a) ]] / a"},
		{"x=$(a)", `odd: / a`},
		{"X=1 a", "odd: a / 1"},
		{"PAGER='a b' c", "odd: c / a b"},
		{"export PAGER=x", "plain: export PAGER=x"},
		{"a >b 2>&1 <c", "plain: a w:b r:c"},
		{">b a", "plain: a w:b"},
		{"2>b a", "plain: a w:b"},
		{"a &>b", "odd: a w:b"},
		{"a >&b", "odd: a w:b"},
		{"a <>b", "odd: a r:b w:b"},
		{"a >$x", "odd: a w:"},
		{"a12>b", "plain: a12 w:b"},
		{"a 12>b", "odd: a w:b"},
		{"'a' \"b\" c\\ d", `plain: a b "c d"`},
		{`a "b\"c" '"'`, `plain: a b"c "`},
		{"a 'b\nc' \"d\ne\"", "plain: a b\nc d\ne"},
		{"a \"b\n\nrm x\"\nc", "plain: a \"b\\n\\nrm x\" / c"},
		{"a \"b\\\nc\"", "odd: a bc"},
		{"a 'b\\\nc'", "plain: a b\\\nc"},
		{"a 'b\rc'", "unknown: a b / c"},
		{"a \"b\n$c\"", "odd: a b\n"},
		{"a 'b\nc", "unknown: a b / c"},
		{"bash -c 'a\nrm x'", `plain: bash -c "a\nrm x" / > a / > rm x`},
		{"r''m x", "plain: rm x"},
		{`$'\x72m' x`, "odd: rm x"},
		{"r\\\nm x", "odd: rm x"},
		{"a $x", `odd: a ""`},
		{`a "$x"`, `odd: a ""`},
		{"a *", "odd: a *"},
		{"a ~/x", "odd: a ~/x"},
		{"git diff HEAD~1 HEAD^ stash@{0}", "plain: git diff HEAD~1 HEAD^ stash@{0}"},
		{"a {b,c}", "odd: a {b,c}"},
		{"{rm,-rf,/}", "odd: {rm,-rf,/} / > rm -rf /"},
		{"a # b; c", "odd: a / b / c"},
		{"a b#c", "plain: a b#c"},
		{"=a", "odd: =a"},
		{"%1", "odd: %1"},
		{"a =b", "odd: a =b"},
		{"a \"b", "unknown: a b"},
		{"", "odd:"},
		{"é", "odd: é"},
		{"echo é", "plain: echo é"},
		{"echo \u200b", "odd: echo \u200b"},

		{"timeout 5 a b", "plain: timeout 5 a b / > a b"},
		{"timeout -k 5 --signal=9 5 a", "plain: timeout -k 5 --signal=9 5 a / > a"},
		{"timeout --new 5 a", "odd: timeout --new 5 a"},
		{"nice -n 5 nohup a", "plain: nice -n 5 nohup a / > nohup a / > > a"},
		{"env -i X=1 a", "plain: env -i X=1 a / > a"},
		{"env X=1", "plain: env X=1"},
		{"env -S 'a b'", `odd: env -S "a b" / > a b`},
		{"sudo -u root a", "plain: sudo -u root a / > a"},
		{"command -v a", "plain: command -v a"},
		{"command a", "plain: command a / > a"},
		{"xargs -0 -n1 a b", "plain: xargs -0 -n1 a b / > a b [open]"},
		{"time a && b", "plain: time a / > a / b"},
		{"time if a", "odd: time if a / > if a"},
		{"stdbuf -oL a", "plain: stdbuf -oL a / > a"},
		{"exec a", "plain: exec a / > a"},
		{"bash -c 'a && b' c", `plain: bash -c "a && b" c / > a / > b`},
		{"bash -lc a", "plain: bash -lc a / > a"},
		{"bash -o pipefail -c 'a | b'", `plain: bash -o pipefail -c "a | b" / > a / > b`},
		{`bash -c "a $x"`, `odd: bash -c "a " / > a`},
		{"bash -c 'a $x'", `odd: bash -c "a $x" / > a ""`},
		{"bash -c", "plain: bash -c"},
		{"bash x.sh", "plain: bash x.sh"},
		{"bash --rcfile x", "odd: bash --rcfile x"},
		{"eval 'a;' b", `plain: eval a; b / > a / > b`},
		{"find . -exec a {} ';' -o -exec b {} +", "plain: find . -exec a {} ; -o -exec b {} + / > a {} / > b {}"},
		{"find . -exec a", "odd: find . -exec a / > a"},
		{"fd x -x a b", "plain: fd x -x a b [runs] / > a b"},
		{"ssh host 'a; b'", `odd: ssh host "a; b" / > a / > b`},
		{"git -c alias.x='!a b' x", `plain: git -c "alias.x=!a b" x [runs] / > a b`},
		{"git log -c", "plain: git log -c"},
		{"rg --pre ./x y", "plain: rg --pre ./x y [runs] / > ./x"},
		{"rg --pr=./x y", "plain: rg --pr=./x y [runs] / > ./x"},
		{"tar xf a --checkpoint-action=exec=./x", "plain: tar xf a --checkpoint-action=exec=./x [runs] / > exec=./x"},
		{"make SHELL=./x", "plain: make SHELL=./x [runs] / > ./x"},
		{"python -c 'a'", "odd: python -c a"},
		{"python a.py -c", "plain: python a.py -c"},
		{"alias a=b", "odd: alias a=b"},
		{"cd x && ./y", "plain: cd x / ./y [moved]"},
	} {
		t.Run(c.line, func(t *testing.T) {
			if got := show(c.line); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Proves E25, E27: a text that is nested too deeply, too long or not parsable is not plain, and its
// commands are still found.
func TestBombs(t *testing.T) {
	nested := "rm x"
	for range 12 {
		nested = "bash -c '" + strings.ReplaceAll(nested, "'", `'\''`) + "'"
	}
	for name, line := range map[string]string{
		"parentheses":   strings.Repeat("(", 100_000) + "rm x",
		"substitutions": strings.Repeat("$(", 50_000) + "rm x",
		"backticks":     strings.Repeat("`", 100_000) + "rm x",
		"braces":        strings.Repeat("{ ", 50_000) + "; rm x",
		"if":            strings.Repeat("if ", 20_000) + "; rm x",
		"negations":     strings.Repeat("! ", 20_000) + "; rm x",
		"parameters":    strings.Repeat("${x:-", 20_000) + ";rm x",
		"arithmetic":    "$((" + strings.Repeat("1+", 30_000) + ";rm x",
		"times":         strings.Repeat("time ", 20_000) + "; rm x",
		"pipes":         strings.Repeat("a | ", 15_000) + "rm x $y",
		"lists":         strings.Repeat("a && ", 12_000) + "rm x $y",
		"words":         strings.Repeat("a ", 500_000) + "; rm x $y",
		"commands":      strings.Repeat("a;", 400_000) + "rm x $y",
		"quotes":        strings.Repeat("'a'", 20_000) + "; rm x $y",
		"heredocs":      strings.Repeat("a <<E\n", 9_000) + "\nrm x",
		"wrappers":      strings.Repeat("nohup ", 5_000) + "rm x",
		"shells":        nested,
		"equals":        strings.Repeat("a=", 500_000) + "; rm x",
	} {
		t.Run(name, func(t *testing.T) {
			var l shell.Line
			l.Read([]byte(line))
			found := false
			for _, c := range l.Commands {
				for i := range c.Words {
					found = found || string(c.Words[i].Text) == "rm"
				}
			}
			if l.Plain || !found && name != "arithmetic" && name != "heredocs" && name != "shells" {
				t.Errorf("plain %v, found %v, %d commands", l.Plain, found, len(l.Commands))
			}
		})
	}
	var l shell.Line
	l.Read([]byte(strings.Repeat("true;", 200) + "rm x"))
	if last := l.Commands[len(l.Commands)-1]; !l.Plain || string(last.Words[0].Text) != "rm" {
		t.Error("the last of many commands is lost")
	}
}

// Evaluating a value does not allocate once the line has its memory.
func TestNoAllocations(t *testing.T) {
	var l shell.Line
	for _, line := range []string{"go test -run X ./internal/condition/match", "git log --oneline | grep 'a b' 2>/dev/null"} {
		text := []byte(line)
		l.Read(text)
		if n := testing.AllocsPerRun(100, func() { l.Read(text) }); n != 0 {
			t.Errorf("%q: %v allocations", line, n)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, line := range []string{"go test -run X ./internal/condition/match", "git log --oneline | grep 'a b' 2>/dev/null", "timeout 5 bash -c 'git status && ls'", "cat $(ls *.txt)"} {
		b.Run(line, func(b *testing.B) {
			var l shell.Line
			text := []byte(line)
			b.ReportAllocs()
			for b.Loop() {
				l.Read(text)
			}
		})
	}
}
