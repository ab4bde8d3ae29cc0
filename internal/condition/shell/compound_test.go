package shell_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// Compound commands that are read as the commands in them.
func TestCompound(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"if [ -f a ]; then cat a; fi", "[ -f a ]; cat a"},
		{"if ! a b; then c; elif d\nthen e; else f; fi; g", "a b; c; d; e; f; g"},
		{"while a; do b; done", "a; b"},
		{"until a b\ndo\n  c\ndone | d", "a b; c; d"},
		{"while read -r line; do echo \"$line\"; done < a", "read -r line; echo $line"},
		{"a | while IFS= read -r f; do printf '%s\\n' \"x $f\"; done", "a; read -r f; printf %s\\n x $f"},
		{"while read -r a b; do [ \"$a\" = x ] && echo \"$b\"; done < f", "read -r a b; [ $a = x ]; echo $b"},
		{"case x in a|b) c;; *.go) d; e;; esac", "c; d; e"},
		{"case $? in 0) a ;; esac", "a"},
		{"case \"$(uname)\" in Darwin) a;; *) b\nesac", "uname; a; b"},
		{"(a; b)", "a; b"},
		{"( (a) && b | c )", "a; b; c"},
		{"{ a; b; } 2>&1 | c", "a; b; c"},
		{"a && { b || c; }", "a; b; c"},
		{"for d in a b; do (cd $d && c); done", "cd a; c; cd b; c"},
		{"for f in d/*; do if [ -f \"$f\" ]; then cat \"$f\"; fi; done", "echo d/*; [ -f d/* ]; cat d/*"},
		{"for f in $(a | b); do echo \"$f\"; done", "a; b; echo $f"},
		{"for i in {1..3}; do echo \"$i\"; done", "echo $i"},
		{"[[ -f a ]] && b", "[[ -f a ]]; b"},
		{"! [[ a == *.go ]] || b", "[[ a == *.go ]]; b"},
		{"[[ $x == \"\" ]]", ""},
		{"[[ -n $x ]] && a", "[[ -n $x ]]; a"},
		{"[ -n \"$(a | b)\" ] && c", "[ -n $(a | b) ]; a; b; c"},
		{"[ \"$(a)\" = b ]", "[ $(a) = b ]; a"},
		{"if [[ $? -eq 0 ]]; then a; fi", "[[ $? -eq 0 ]]; a"},

		// what a shell may run, or read, in another way
		{"if a; then b", ""},
		{"if a; b; fi", ""},
		{"if a then b; fi", ""},
		{"while a; do b & done", ""},
		{"while a; do b; done & c", ""},
		{"(while a; do b; done) &", ""},
		{"a() { b; }", ""},
		{"function a { b; }", ""},
		{"((a=1))", ""},
		{"(a", ""},
		{"a)", ""},
		{"a (b)", ""},
		{"{ a }", ""},
		{"{a; }", ""},
		{"(a) b", ""},
		{"(a) !; b", ""},
		{"()", ""},
		{"case x in esac", ""},
		{"case x in a) b;& c) d;; esac", ""},
		{"case $x in a) b;; esac", ""},
		{"case x in [a-z]) b;; esac", ""},
		{"select f in a; do b; done", ""},
		{"for ((i=0; i<3; i++)); do a; done", ""},
		{"time (a)", ""},
		{"X=1 (a)", ""},
		{"{ cat <<'E'; }\nx\nE", ""},
		{"(a) <<'E'\nx\nE", ""},
		{"[[ a && b ]]", ""},
		{"[[ a || b ]]", ""},
		{"[[ -v a ]]", ""},
		{"[[ a[$(b)] -eq 1 ]]", ""},
		{"[[ a -eq 1 ]]", ""},
		{"[[ \"$x\" -eq 1 ]]", ""},
		{"[[ $x = a ]]", ""},
		{"[[ a =~ b ]]", ""},
		{"[[ a < b ]]", ""},
		{"[[ -f a ]] b", ""},
		{"[[ -f a", ""},
		{"[ \"$(a)\" -gt 1 ]", ""},
		{"[ \"$x\" = a ]", ""},
		{"[ $x = a ]", ""},
		{"while read -r a; do [ -f \"$a\" ]; done < f", ""},
		{"while read -r a; do cat \"$a\"; done < f", ""},
		{"while read -r a; do $a; done < f", ""},
		{"while read -r a; do printf '%d' \"$a\"; done < f", ""},
		{"while read -r a; do printf \"$a\"; done < f", ""},
		{"while read -r PATH; do echo \"$PATH\"; done < f", "read -r PATH; echo $PATH"}, // a rule for read decides
		{"bash -c 'while a; do b; done'", ""},
		{"echo $(while a; do b; done)", ""},
		{"IFS=x a", ""},

		// values that change
		{"for f in a; do for f in b; do c; done; cat $f; done", ""},
		{"for f in a; do read f; cat $f; done", ""},
		{"for f in a; do command read -r f; cat $f; done", ""},
		{"for f in a; do printf -v f x; cat $f; done", ""},
		{"for f in a; do while read -r f; do b; done; cat $f; done", ""},
		{"for f in a; do export f=b; cat $f; done", ""},
		{"for f in a; do [ f=1 -eq 1 ]; cat $f; done", ""},

		// a change of directory that happens again
		{"while a; do cd ..; b; done", ""},
		{"while a; do command cd x; b; done", ""},
		{"for f in d/*; do cd ..; done", ""},
		{"while a; do (cd x && b); done", "a; cd x; b"},
	} {
		var l shell.Line
		l.Read([]byte(c.line))
		var list []string
		for _, one := range l.Commands {
			var words []string
			for _, w := range one.Words {
				words = append(words, string(w.Text))
			}
			list = append(list, strings.Join(words, " "))
		}
		if got := strings.Join(list, "; "); l.Plain != (c.want != "") || l.Plain && got != c.want {
			t.Errorf("%q: plain %t, %q", c.line, l.Plain, got)
		}
	}
}

// Redirections of a compound command are those of the commands in it, and its input is theirs.
func TestCompoundShares(t *testing.T) {
	var l shell.Line
	l.Read([]byte("a | { b; (c) > x; } > y; d"))
	if !l.Plain || len(l.Commands) != 4 {
		t.Fatalf("plain %t, %d commands", l.Plain, len(l.Commands))
	}
	for i, want := range []struct {
		targets string
		stdin   bool
	}{{"", false}, {"y", true}, {"x y", true}, {"", false}} {
		c, targets := &l.Commands[i], []string{}
		for _, r := range c.Redirects {
			targets = append(targets, string(r.Target.Text))
		}
		if got := strings.Join(targets, " "); got != want.targets || c.Stdin() != want.stdin {
			t.Errorf("command %d: redirections %q, input %t", i, got, c.Stdin())
		}
	}
	for _, line := range []string{"for f in a; do cat x; find d; done | xargs cat", "{ cat x; find d; } | xargs cat", "cat x | { find d; xargs cat; }"} {
		if l.Read([]byte(line)); !l.Plain {
			t.Fatalf("%q is not plain", line)
		}
		for _, c := range l.Commands {
			if string(c.Program()) == "xargs" && c.Piped {
				t.Errorf("%q: xargs reads the output of the command before it only", line)
			}
		}
	}
}

// "cd -" after a change of directory that another shell makes leads to a directory that the line does
// not name.
func TestCompoundLoses(t *testing.T) {
	for line, lost := range map[string]bool{"cd a; cd -; b": false, "(cd a); cd -; b": true, "cd a | c; cd -; b": true, "if c; then cd a; fi; cd -; b": true, "(pushd a); popd; b": true} {
		var l shell.Line
		if l.Read([]byte(line)); l.Commands[len(l.Commands)-1].Lost != lost {
			t.Errorf("%q: lost is not %t", line, lost)
		}
	}
}

// compoundRecorder writes down the words and the directory; "often" fails the second time.
const compoundRecorder = `#!/bin/sh
record=$(printf '[%s]' "${0##*/}" "$@")
printf '%s\t%s\n' "$record" "$(pwd -P)" >> "$RECORD"
if [ "${0##*/}" = often ]; then
	[ -e "$RECORD.often" ] && exit 1
	: > "$RECORD.often"
fi
`

// Real shells run no other command for a compound one than those that the package reads, in no other
// directory.
func TestCompoundInRealShells(t *testing.T) {
	dir := workplace(t)
	for _, name := range append(programs, "often") {
		if err := os.WriteFile(filepath.Join(dir, "bin", name), []byte(compoundRecorder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	shells := realShells(t)
	rounds := 80
	if os.Getenv("STOPGATE_LONG") != "" {
		rounds = 3000
	}
	g := &compounds{rand.New(rand.NewPCG(5, 6))}
	work, err := filepath.EvalSymlinks(filepath.Join(dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	var l shell.Line
	lines, commands := 0, 0
	for lines < rounds {
		line := g.list(3)
		if l.Read([]byte(line)); !l.Plain {
			continue
		}
		lines++
		for _, path := range shells {
			for _, one := range traced(t, dir, path, line) {
				commands++
				if !slices.ContainsFunc(l.Commands, func(c shell.Command) bool { return mayBe(&c, one, work) }) {
					t.Errorf("%s: %q runs %q, which is not read", filepath.Base(path), line, one)
				}
			}
		}
	}
	if t.Logf("%d lines, %d commands", lines, commands); commands < rounds {
		t.Errorf("%d commands ran", commands)
	}
}

// traced returns the commands that a shell runs, with their directories.
func traced(t *testing.T, dir, program, line string) []string {
	t.Helper()
	record := newRecord(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-c", line+"\nwait")
	cmd.Dir = filepath.Join(dir, "work")
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "RECORD=" + record, "ZDOTDIR=" + dir}
	_ = cmd.Run() // a command that fails is one of the cases
	if ctx.Err() != nil {
		t.Fatalf("%s does not end: %q", program, line)
	}
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// mayBe reports whether a command that ran, with its directory, is one that was read.
func mayBe(c *shell.Command, ran, work string) bool {
	words, dir, _ := strings.Cut(ran, "\t")
	have := strings.Split(strings.TrimSuffix(strings.TrimPrefix(words, "["), "]"), "][")
	k := 0
	for i := range c.Words {
		w := &c.Words[i]
		switch text := string(w.Text); {
		case w.Glob && !w.Literal: // any number of the names that it matches
			for k < len(have) {
				if ok, err := filepath.Match(text, have[k]); !ok || err != nil {
					break
				}
				k++
			}
		case k == len(have), w.Literal && text != have[k]:
			return false
		default:
			k++
		}
	}
	if k != len(have) {
		return false
	}
	at := func(path string) bool { return filepath.Join(work, path) == dir }
	if c.Located {
		return at(c.Dir)
	}
	return at("") || slices.ContainsFunc(c.Dirs, at)
}

// compounds draws lines.
type compounds struct{ *rand.Rand }

func (g *compounds) pick(from ...string) string { return from[g.IntN(len(from))] }

// list returns commands, nested up to a depth.
func (g *compounds) list(depth int) string {
	var b strings.Builder
	for i := range 1 + g.IntN(2) {
		if i > 0 {
			b.WriteString(g.pick("; ", "\n", " && ", " || ", " | ", " & "))
		}
		b.WriteString(g.command(depth))
	}
	return b.String()
}

func (g *compounds) command(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.simple()
	}
	sub := func() string { return g.list(depth - 1) }
	end := g.pick("; ", "\n")
	text := ""
	switch g.IntN(8) {
	case 0:
		text = "if " + g.condition() + end + "then " + sub() + end + g.pick("", "else "+sub()+end, "elif "+g.condition()+end+"then "+sub()+end) + "fi"
	case 1:
		text = g.pick("while often", "until frob", "while read -r line", "while IFS= read -r f") + end + "do " + sub() + end + "done < in"
	case 2:
		text = "case " + g.pick("a", "b.go", "$?", "\"$(ls a)\"", "'x y'") + " in " + g.pick("a", "*.go", "0|x*") + ") " + sub() + g.pick(" ;; ", ";;\n") + "*) " + sub() + " ;; esac"
	case 3:
		text = "(" + sub() + ")"
	case 4:
		text = "{ " + sub() + end + "}"
	case 5:
		text = "for f in " + g.pick("a b", "src/*.go", "$(ls a; echo x)", "{1..2}", "'a b' c") + "; do " + sub() + end + "done"
	case 6:
		text = "[[ " + g.pick("-f in", "-d src", "a == *", "! -e x", "-n $x", "$? -eq 0") + " ]]"
	default:
		text = sub()
	}
	return text + g.pick("", "", "", " > /dev/null", " 2>&1", " | cat", " < in", " b")
}

func (g *compounds) condition() string {
	return g.pick("frob x", "often", "! frob", "[ -f in ]", "[ -n \"$x\" ]", "[[ -d src ]]", "ls | grep x", "[ \"$(frob y)\" = z ]")
}

func (g *compounds) simple() string {
	return g.pick("ls", "cat in", "grep \"$f\"", "frob", "wc $f", "echo \"$line\"", "cd src && ls", "cd src", "cd ..", "cd - && ls", "head \"$f\"", "ls src/*.go", "read -r f", "cat \"$f\" in", "frob || wc x")
}
