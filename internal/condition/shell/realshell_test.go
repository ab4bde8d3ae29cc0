package shell_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// programs are commands of generated lines; each writes down its words.
var programs = []string{"ls", "cat", "grep", "head", "wc", "tee", "frob"}

// A record is one write, so that commands of a pipe do not interleave.
const recorder = `#!/bin/sh
record=$(printf '[%s]' "${0##*/}" "$@")
printf '%s\n' "$record" >> "$RECORD"
`

// workplace makes a directory with files that wildcards can match, a home directory, and the
// programs.
func workplace(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"work/src/a.go", "work/src/b.go", "work/src/.hidden.go", "work/notes.md", "work/in", "home/x", "home/y.go"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(dir, "bin", name), []byte(recorder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// realShells returns the shells of this machine.
func realShells(t *testing.T) (paths []string) {
	t.Helper()
	for _, name := range []string{"sh", "bash", "dash", "zsh"} {
		if path, err := exec.LookPath(name); err == nil {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		t.Fatal("there is no shell")
	}
	return paths
}

// ran returns what a shell starts for a line: each command with its words in brackets, sorted.
func ran(t *testing.T, dir, program, line string) []string {
	t.Helper()
	record := newRecord(t, dir)
	cmd := exec.Command(program, "-c", line+"\nwait")
	cmd.Dir = filepath.Join(dir, "work")
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "RECORD=" + record, "ZDOTDIR=" + dir}
	cmd.Stdin = strings.NewReader("")
	_ = cmd.Run() // a failed command ran nothing
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	slices.Sort(list)
	return list
}

// newRecord makes the file that the commands of one line are written to: a shell may end before the
// last of its pipes does.
func newRecord(t *testing.T, dir string) string {
	t.Helper()
	file, err := os.CreateTemp(dir, "record")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// read returns the same for the commands of a plain line.
func read(t *testing.T, dir string, l *shell.Line) []string {
	t.Helper()
	var list []string
	for _, c := range l.Commands {
		var b strings.Builder
		for i, w := range c.Words {
			text := string(w.Text)
			if rest, home := strings.CutPrefix(text, "~"); home && !w.Literal {
				text = filepath.Join(dir, "home") + rest
			}
			names := []string{text}
			if w.Glob && !w.Literal {
				old := text
				if !filepath.IsAbs(text) {
					old = filepath.Join(dir, "work", text)
				}
				found, err := filepath.Glob(old)
				if err != nil {
					t.Fatal(err)
				}
				found = slices.DeleteFunc(found, func(path string) bool { return filepath.Base(path)[0] == '.' })
				for k := range found {
					found[k] = strings.TrimPrefix(found[k], filepath.Join(dir, "work")+"/")
				}
				if len(found) > 0 {
					names = found
				}
			}
			if i == 0 && !slices.Contains(programs, text) {
				break
			}
			for _, name := range names {
				fmt.Fprintf(&b, "[%s]", name)
			}
		}
		if b.Len() > 0 {
			list = append(list, b.String())
		}
	}
	slices.Sort(list)
	return list
}

// pieces are what lines are drawn from.
var linePieces = []string{
	"ls", "cat", "grep", "head", "wc", "frob", "ls", "cat", "frob", " ", " ", " ", " ", " ", " ", " ", "\n", "; ", " && ", " | ", " & ", ";", "&&", "|", "\\\n", " \\\n ", "! ", "!", "# ", "#", "#x y\n",
	"\n# a b\n", "CI=1 ", "CI=x", "LC_ALL=C ", "PATH=. ", "X=1 ", "CI=\"1\" ", "src/*.go", "*.md", "*", "src/?.go", "~/x", "~", "~/*.go", "a~", "'q r'", "\"d q\"", "e\\ f", "\\", "'", "\"", "a", "b-c", "-x", "--", "--include=*.go",
	"> /dev/null", "2>&1", "2>/dev/null", "< in", "<in", ">out", " > ", "<< 'E'\nx y\nE\n", "<<'E'\n$(frob)\nE\n", " <<'E' | wc\nfrob\nE\n", "<<E\nx\nE\n", "E\n", "\nE\n", "$?", "\"$?\"", "$(ls)", "\"$(ls)\"", "`ls`", "{", "}", "{}", "(", ")",
	"=", "@{u}", "[a]", "[", "]", "$", "$x", "^", "%", "\t", "é", "if", "then", "fi", "time ", "do", "x()", ",", ":", "!=",
}

// Proves E1, E6, E7, E11, E19: real shells run a plain line as the package parses it: the same
// programs with the same words after expansion.
func TestRealShells(t *testing.T) {
	dir := workplace(t)
	shells := realShells(t)
	lines := []string{
		"ls src/*.go", "cat *.md", "head ~/x ~/*.go", "! grep x src/?.go", "CI=1 ls a | LC_ALL=C cat", "# list\nls \\\n  -la", "ls \\\n| cat", "cat <<'E'\n$(frob)\nE", "cat > out <<'E' && ls\nfrob `frob`\nE\nwc x",
		"tee out <<\"E\"\n\tif (a != b) {}\nE", "grep -rn x --include=*.go src", "set -e\nls", "set -euo pipefail\nls; cat x",
	}
	rounds := 100
	if os.Getenv("STOPGATE_LONG") != "" {
		rounds = 4000
	}
	r := rand.New(rand.NewPCG(1, 2))
	var l shell.Line
	for len(lines) < rounds {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			if r.IntN(3) == 0 {
				b.WriteString(linePieces[r.IntN(len(linePieces))])
			}
			b.WriteString(programs[r.IntN(len(programs))] + " ")
			for range 1 + r.IntN(6) {
				b.WriteString(linePieces[r.IntN(len(linePieces))])
			}
			b.WriteString([]string{"; ", "\n", " && ", " | ", ""}[r.IntN(5)])
		}
		nothing := func(c shell.Command) bool { return len(c.Words) == 0 } // no rule permits it; zsh runs cat
		if l.Read([]byte(b.String())); l.Plain && !slices.ContainsFunc(l.Commands, nothing) {
			lines = append(lines, b.String())
		}
	}
	seen := map[string]int{}
	for _, line := range lines {
		if l.Read([]byte(line)); !l.Plain {
			t.Fatalf("%q is not plain", line)
		}
		want := read(t, dir, &l)
		for _, path := range shells {
			got := ran(t, dir, path, line)
			got = slices.DeleteFunc(got, func(s string) bool { return s == "" })
			// A command after && or set -e may not run; no other commands may be missing.
			for _, one := range got {
				if !slices.Contains(want, one) {
					t.Errorf("%s: %q runs %s, read as %v", filepath.Base(path), line, one, want)
				}
			}
			seen[filepath.Base(path)] += len(got)
		}
	}
	t.Logf("%d lines; commands run: %v", len(lines), seen)
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if seen[name] < len(lines)/2 {
			t.Errorf("%s ran %d commands", name, seen[name])
		}
	}
}

// loopPieces are what lists of loops are drawn from.
var loopPieces = []string{
	"$f", "\"$f\"", "\"$f\"", "\"${f}\"", "${f}", "\"x $f\"", "$f/x", "a", "'b c'", "--", "; ", "\n", " | ", " && ", "> /dev/null", "for g in 1 2; do cat $g \"$f\"; done", "f", "$fx", "\"$f.go\"", "$g", "done", "do",
}

// Real shells run the same programs for a loop, each with some of the words that the package reads,
// in order.
func TestLoopsInRealShells(t *testing.T) {
	dir := workplace(t)
	for _, name := range []string{"work/src/-x.go", "work/src/a -n b.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shells := realShells(t)
	rounds := 80
	if os.Getenv("STOPGATE_LONG") != "" {
		rounds = 3000
	}
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	items := []string{"a", "b.go", "'c d'", "src/*.go", "src/?.go", "*.md", "~/*.go", "'*'", "-x", "$x", "\"$(ls)\"", "a=b", "none/*"}
	var l shell.Line
	lines := []string{}
	for len(lines) < rounds {
		var b strings.Builder
		b.WriteString(pick([]string{"", "", "ls; ", "ls | ", "ls && ", "! "}) + "for f in")
		for range 1 + r.IntN(3) {
			b.WriteString(" " + pick(items))
		}
		b.WriteString(pick([]string{"; do ", "\ndo\n", " ; do\n", "; do; "}))
		for range 1 + r.IntN(2) {
			b.WriteString(pick([]string{"cat", "grep", "head", "wc", "ls"}) + " ")
			for range 1 + r.IntN(3) {
				b.WriteString(pick(loopPieces) + " ")
			}
			b.WriteString(pick([]string{"; ", "\n", " | cat; ", " && ls; "}))
		}
		b.WriteString("done" + pick([]string{"", "", "; ls", " | cat", " && wc $f", "\nls", " ls", " > out"}))
		if l.Read([]byte(b.String())); l.Plain {
			lines = append(lines, b.String())
		}
	}
	commands := 0
	for _, line := range lines {
		l.Read([]byte(line))
		want := read(t, dir, &l)
		for _, path := range shells {
			for _, one := range ran(t, dir, path, line) {
				if one == "" {
					continue
				}
				commands++
				if !slices.ContainsFunc(want, func(read string) bool { return someOf(one, read) }) {
					t.Errorf("%s: %q runs %s, read as %v", filepath.Base(path), line, one, want)
				}
			}
		}
	}
	if t.Logf("%d lines, %d commands", len(lines), commands); commands < rounds {
		t.Errorf("%d commands ran", commands)
	}
}

// someOf reports whether the words of a command are a subsequence of those of another one.
func someOf(one, of string) bool {
	have, all := strings.Split(one, "]["), strings.Split(of, "][")
	if have[0] != all[0] && strings.TrimSuffix(have[0], "]") != strings.TrimSuffix(all[0], "]") {
		return false
	}
	for _, w := range have {
		i := slices.IndexFunc(all, func(a string) bool { return strings.TrimSuffix(a, "]") == strings.TrimSuffix(w, "]") })
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}
