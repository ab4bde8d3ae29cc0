package shell_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// Proves E1, E7, E14, E19, E21, E23, E27: expansions are certain in few positions only, and nothing
// that changes what a line runs is missed.
func TestExpanded(t *testing.T) {
	for want, lines := range map[string][]string{
		"plain: ls src/*.go": {"ls src/*.go", "LC_ALL=C ls src/*.go", "# x\nls src/*.go", "! ls src/*.go", "ls \\\n src/*.go"},
		"plain: cat ~/x":     {"cat ~/x", "GIT_PAGER=cat cat ~/x"},
		"plain: echo $?":     {"echo $?", "echo \"$?\""},
		"plain: cat w:f":     {"cat > f <<'E'\n$(rm x)\n\tif a != b\nE", "cat <<\"E\" >f\n`rm x`\nE\n"},
	} {
		for _, line := range lines {
			if got := show(line); got != want {
				t.Errorf("%q: %s, want %s", line, got, want)
			}
		}
	}
	for line, want := range map[string]string{
		"echo \"a $(ls | wc) b\" c": `plain: echo "a $(ls | wc) b" c / ls / wc`,
		"echo $(a); b":              `plain: echo $(a) / a / b`,
		"set -euo pipefail; a":      "plain: set -euo pipefail / a",
		"cat <<'E' | a\nx\nE\nb":    "plain: cat / a / b",
	} {
		if got := show(line); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
	for _, line := range []string{
		// Wildcards of programs that do more, that may be options, or in names of programs and
		// redirections.
		"rm src/*", "sort src/*", "grep x *", "file *", "ls [a]*", "ls {a,b}*", "ls a=*", "ls 'a'*", "ls \\**", "src/* x", "ls > src/*", "ls < *", "timeout 5 src/*", "ls ~a", "ls ~+", "rm ~/x", "ls -*", "ls --x=*", "grep --f=*",
		"LS src/*", "/bin/ls src/*", "\"ls\" src/*", "xargs src/*", "ls a^*", "ls a#*",
		// Numbers and outputs in positions where they could be something else.
		"rm $?", "printf $?", "printf -v$? x", "echo -$?", "$? x", "cat $?", "echo $? | xargs rm", "echo $1", "echo $!", "echo $x", "echo ${HOME}", "echo $HOME[1]", "echo $PATH:h", "echo $HOME*", "echo ~$?", "ls $(a)", "printf x $(a)",
		"echo $(a $(b))", "echo $(a `b`)", "echo $(a > f # b)", "echo $(a \\)b)", "echo $(a ')' b)", "echo $()", "echo $(a <<'E'\nE\n)", "echo $(a;", "echo \"$(a\nb)\"", "bash -c 'echo $(a)'", "echo $(cat <<'E'\nE\n)",
		// Assignments that change what runs, and words that are no assignments.
		"PATH=. a", "X=1 a", "CI=1", "CI=1; a", "CI=1\na", "CI=\"1\" a", "CI=$x a", "CI=a/b a", "CI=.. a", "LC_ALL=a:b a", "PAGER=less a", "PAGER=catx a", "CI+=1 a", "CI[0]=1 a", "CI=1 X=1 a", "CI=1 PATH=. a",
		// Comments that another shell reads, and lines that continue elsewhere.
		"# it's\na", "# $(a)\nb", "# a;b\nc", "# a\\\nb", "a # b", "a && # b\nc", "# a", "# =a\nb", "# a*\nb", "a\\\n", "a >\\\nb", "a \\\r\nb",
		"! ! a", "a | ! b", "!\na", "!", "!a", "! ",
		// Here-documents whose end is not certain, or that are run.
		"cat <<E\nE", "cat <<-'E'\nE", "cat <<'E'\nx", "cat <<'E'\n E\nE", "cat <<'E'\nEx\nE", "cat <<'E'\nx\\\nE", "cat <<'E'\n!x\nE", "cat <<'E'\n\x01\nE", "cat <<'E' <<'F'\nE\nF", "cat < a <<'E'\nE", "a | cat <<'E'\nE", "<<'E'\nE", "cat <<'E F'\nE F",
		"cat <<'E'x\nEx", "sh <<'E'\na\nE", "a <<'E'\nE", "cat <<'E' | sh\nx\nE", "cat <<'E' \\\n| a\nE\nE", "cat <<<'E'\nE",
		"set", "set -a", "set -o posix", "set -eo", "set -o", "set -ee x", "set +e", "set '-e'", "set -", "set -e -o posix", "set -oe pipefail", "set pipefail",
	} {
		var l shell.Line
		if l.Read([]byte(line)); l.Plain {
			permitted := false
			for _, c := range l.Commands {
				permitted = permitted || len(c.Words) > 0
			}
			if permitted {
				t.Errorf("%q is plain: %s", line, show(line))
			}
		}
	}
}

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
				if got := shell.Computes([]byte(program), []byte(script)); got != want {
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
		if got := l.Solid(); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
