package effect_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
)

// Proves E17: a script computes if it certainly does nothing else.
func TestComputes(t *testing.T) {
	for program, scripts := range map[string]map[bool][]string{
		"sed": {
			true: {"p", "1p", "$p", "1,5p;7p", "1!d", "/a b/,/^}/p", "s/a/b/", "s/a b/c;d/g", "s|a|b|2p", "s/[[:space:]]*$//", "s/\\//x/", "/a/I,+3p", "0~3d", "s/[^]]/x/", "$!N", " 1p ; 2p "},
			false: {"", "w x", "1w x", "s/a/b/w x", "s/a/b/e", "e a", "1e", "r x", "R x", "W x", "s/a/b/;w x", "p\nw x", "p }", "{p}", "a\\\nw", "i x", "c x", "y/a/b/", "s/[/]/w x/", "s/[]/]/w x/", "s/[[:a/w x;:]]/b/", "s/[\\]/w x/]/",
				"s/a/b", "s/a", "/a", "1,", "1,p,w x", "sxaxbxw y", "s\na\nb\n", "s/a\nb/c/", ":a", "ba", "F", "z", "q5", "p\x00", "é", "s/[[:alpha:]/w x/", "/[/w x/p"},
		},
		"awk": {
			true:  {"1", "{print}", "{print $1, $3}", "NR>=10 && NR<=20", "$3 > 5 {n++} END {print n}", "/a/ || /b/", "{ if ($1 >= 2) print substr($0, 3) }", "BEGIN{FS=\":\"} {printf \"%s\\n\", $1}"},
			false: {"", "-f", "{print > \"x\"}", "{print >> \"x\"}", "{print | \"sh\"}", "\"a\" | getline", "{getline x < \"y\"}", "{system(\"x\")}", "BEGIN{print ENVIRON[\"X\"]}", "BEGIN{ARGV[1]=\"x\"}", "@load \"x\"", "{print \"}\" > \"x\"}", "{print |& \"x\"}", "# >\n{print}", "{sys\\\ntem(1)}", "a ||| b", "1 >> 2"},
		},
		"jq":   {true: {".", ".a[0]", "[.[] | select(.b == \"c\")] | length", "keys"}, false: {"", "env", "$ENV", ".x | env.Y", "import \"a\" as b; .", "include \"a\"; .", "\"\\(env)\"", "input_line_number", "$__prog_args"}},
		"perl": {false: {"1"}},
	} {
		for want, list := range scripts {
			for _, script := range list {
				if got := effect.Computes([]byte(program), []byte(script)); got != want {
					t.Errorf("%s %q computes: %v, want %v", program, script, got, want)
				}
			}
		}
	}
}

// Lines that climb with ".." where a path that does not exist before the line certainly is no link.
func TestSolid(t *testing.T) {
	for line, want := range map[string]bool{
		"cat b/../x": true, "mkdir -p b && cd b && cmake ..": true, "rm -rf b && mkdir b && cd b && cmake .. && make": true, "mkdir b; cat b/../x": true,
		"cd b && cmake .. | tail -5 && ln -s x y": true,
		"ln -s /etc b && cat b/../x":              false, "cp -a c b && cat b/../x": false, "git clone u b && cat b/../x": false, "tar xf a && cat b/../x": false,
		"cat b/../x $(ln -s /etc b)": false, "cat $(ln -s /etc b) b/../x": false, "cat b/../x & ln -s /etc b": false, "cat b/../x | ln -s /etc b": false, "ln -s /etc b | cat b/../x": false,
		"cat b/../x; ln -s /etc b": false, "./mkdir b && cat b/../x": false, "cd b && make && cd .. && cat x": false, "sh -c 'ln -s /etc b' && cat b/../x": false, "ls | xargs mkdir && cat b/../x": false,
		"if true; then ln -s /etc b; fi; cat b/../x": false, "mkdir() { ln -s /etc b; }; mkdir && cat b/../x": false, "alias mkdir='ln -s /etc b'; mkdir && cat b/../x": false,
	} {
		var l shell.Line
		l.Read([]byte(line))
		if got := effect.Solid(&l); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
