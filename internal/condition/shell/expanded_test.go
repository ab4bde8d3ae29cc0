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
