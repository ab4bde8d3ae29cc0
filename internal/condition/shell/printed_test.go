package shell_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// printing returns a command with a text that cat prints.
func printing(text string) string {
	return "git commit -m \"$(cat <<'EOF'\n" + text + "\nEOF\n)\""
}

// Proves E7, E11, E19: a text that cat prints between double quotes is a word, as written, without
// its last line ends.
func TestPrinted(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{printing("x"), "x"},
		{printing("x\n\n"), "x"},
		{printing("\n x \n\ny"), "\n x \n\ny"},
		{"git commit -m \"$(cat <<'EOF'\nEOF\n)\"", ""},
		{printing("it's $HOME `id` $(id) \"q\" \\n & | ; < > * # ~ {a,b}"), "it's $HOME `id` $(id) \"q\" \\n & | ; < > * # ~ {a,b}"},
		{printing("feat(shell): x (y (z))\n\n🤖 Generated with [A](https://example.com)"), "feat(shell): x (y (z))\n\n🤖 Generated with [A](https://example.com)"},
		{printing("done! yes!\nEO\nXEOF"), "done! yes!\nEO\nXEOF"},
		{"git commit -m \"$( cat << \"END_1\" \n(x\ny)\nEND_1\n \n)\"", "(x\ny)"},
		{"git commit -m \"a $(cat <<'E'\nb\nE\n) c\"d", "a b cd"},
		{"git commit -m \"$(cat <<'E'\na\nE\n)$(cat <<'E'\nb\nE\n)\"", "ab"},
		{"git add -A && git commit -m \"$(cat <<'E'\nit's\nE\n)\" && git status", "it's"},
		{"cd x; git commit -m \"$(cat <<'E'\na (b)\nE\n)\"; echo 'c)'", "a (b)"},
		{printing("don't do this (again\nand again)"), "don't do this (again\nand again)"},
		{printing("fix (issue #12), (issue #13)"), "fix (issue #12), (issue #13)"},
	} {
		var l shell.Line
		l.Read([]byte(c.line))
		found := false
		for i := range l.Commands {
			if command := &l.Commands[i]; string(command.Program()) == "git" && command.Prints {
				w := command.Words[3]
				found = l.Plain && w.Literal && w.Quoted && string(w.Text) == c.want
			}
		}
		if !found {
			t.Errorf("%q: %s", c.line, show(c.line))
		}
	}
}

// Proves E7, E11, E18, E21, E24: a text is a word only if every shell prints it as written;
// otherwise the line is not plain.
func TestPrintedNearly(t *testing.T) {
	const text = "git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\""
	for _, c := range []string{
		strings.Replace(text, "'EOF'", "EOF", 1),
		strings.Replace(text, "'EOF'", `\EOF`, 1),
		strings.Replace(text, "'EOF'", `E'O'F`, 1),
		strings.Replace(text, "'EOF'", `'EOF'x`, 1),
		strings.Replace(text, "'EOF'", `'E$F'`, 1),
		strings.Replace(text, "'EOF'", `''`, 1),
		strings.Replace(text, "'EOF'", `$'EOF'`, 1),
		strings.Replace(text, "'EOF'", `'EOF' x`, 1),
		strings.Replace(text, "'EOF'", `'EOF' >y`, 1),
		strings.Replace(text, "'EOF'", `'EOF' | sh`, 1),
		strings.Replace(text, "'EOF'", `'EOF'; rm x`, 1),
		strings.Replace(text, "'EOF'", `'EOF' # c`, 1),
		strings.Replace(text, "'EOF'", "'EOF'\r", 1),
		strings.Replace(text, "<<", "<<-", 1),
		strings.Replace(text, "<<", "<<<", 1),
		strings.Replace(text, "<<", "0<<", 1),
		strings.Replace(text, "<<", "<", 1),
		strings.Replace(text, "<<", "- <<", 1),
		strings.Replace(text, "<<", "y <<", 1),
		strings.Replace(text, "<<", ">y <<", 1),
		strings.Replace(text, "cat", "cat\t", 1),
		strings.Replace(text, "cat", "cat\n", 1),
		strings.Replace(text, "cat", "cats", 1),
		strings.Replace(text, "cat", "tac", 1),
		strings.Replace(text, "cat", "/bin/cat", 1),
		strings.Replace(text, "cat", "'cat'", 1),
		strings.Replace(text, "cat", `\cat`, 1),
		strings.Replace(text, "cat", "X=1 cat", 1),
		strings.Replace(text, "cat", "(cat", 1),
		strings.Replace(text, "cat", "env cat", 1),
		strings.Replace(text, "$(", "$((", 1),
		strings.Replace(text, "$(", "`", 1),
		strings.Replace(text, "\"$(", "$(", 1),
		strings.Replace(text, ")\"", "; rm x)\"", 1),
		strings.Replace(text, ")\"", "rm x)\"", 1),
		strings.Replace(text, ")\"", "#)\"", 1),
		strings.Replace(text, ")\"", "}\"", 1),
		strings.Replace(text, ")\"", "\"", 1),
		strings.Replace(text, ")\"", ")", 1),
		strings.Replace(text, "\nEOF", "\n EOF", 1),
		strings.Replace(text, "\nEOF", "\nEOF ", 1),
		strings.Replace(text, "\nEOF", "\nEOF)", 1),
		strings.Replace(text, "\nEOF", "", 1),
		strings.Replace(text, "\nEOF\n)", "\nEOF)", 1),
		printing("EOF)\ny"), printing(" EOF"), printing("EOFX"), // a line that another parser takes for the end
		printing("EO\u00e9"), printing("y\nE\u00e9"), // dash loses a byte of it
		printing("y\\\nz"), printing("y\\"),
		printing("a\tb"), printing("a\rb"), printing("a\x00b"), printing("a\x1bb"), printing("a\x7fb"), printing("a\u200bb"), printing("a\u202eb"), printing("a\xffb"),
		printing("!!"), printing("a !x"), printing("a!\"b"),
		printing(":)"), printing(":("), printing(")("), printing("\\(x)"), printing("${x} (y)"), printing("$[1] (y)"),
		printing("'(') $(id)"), printing("'('\n)"), printing("# (\n)"), printing("it's ( ' )"), printing("( ' ( ' ) )"), printing("\" (\") "),
		printing("it's") + " 'x)'", printing("it's") + "; echo $(id)", printing("a # b") + "; echo 'c)'", printing("a \\ b") + "; echo 'c)'",
		"cat() { id; }; " + text, "alias cat=id; " + text, "export PATH=.; " + text, "hash -p ./x cat; " + text, "enable -n x\n" + text, "source x; " + text,
		". ./x; " + text, "eval x; " + text, "set -o posix; " + text, "read PATH; " + text, "time export PATH=.; " + text, "command export PATH=.; " + text,
		"PATH=. " + text, "\"$(cat <<'EOF'\nls\nEOF\n)\" x", "echo <<'EOF' x\nx\nEOF",
	} {
		var l shell.Line
		if l.Read([]byte(c)); l.Plain && !l.Commands[0].Words[0].Quoted {
			t.Errorf("%q is plain: %s", c, show(c))
		}
	}
}

// Proves E7, E14: a shell that gets the text runs it, also in a line that is not plain; such a
// shell's commands have no printed texts.
func TestPrintedScript(t *testing.T) {
	inner := "git commit -m \"$(cat <<'X'\ny\nX\n)\""
	for _, c := range []struct{ line, want string }{
		{"bash -c \"$(cat <<'EOF'\nls\nrm x\nEOF\n)\"", `plain: bash -c "ls\nrm x" / > ls / > rm x`},
		{"bash -c \"$(cat <<'EOF'\nrm x\nEOF\n)\" $y", `odd: bash -c "rm x" "" / > rm x / cat`},
		{"bash -c \"$(cat <<EOF\nrm x\nEOF\n)\"", `odd: bash -c "rm x" / > rm x / cat`},
		{"bash -c \"$(cat <<'EOF'\n" + inner + "\nEOF\n)\"", `odd: bash -c "git commit -m \"$(cat <<'X'\ny\nX\n)\"" / > git commit -m y / > cat / cat`},
	} {
		if got := show(c.line); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.line, got, c.want)
		}
	}
}

// Proves E7, E11: the shell of this machine gives a program the words that are parsed here.
func TestPrintedByAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		if _, err := os.Stat("/bin/sh"); err == nil {
			t.Fatal("no sh in PATH")
		}
		return // a system without a POSIX shell
	}
	for _, text := range []string{
		"x\n\n", "\n x \n\ny", "it's $HOME `id` $(id) \"q\" \\n & | ; < > * # ~ {a,b}", "feat(shell): (y (z))\n\n🤖 [A](https://example.com)",
		"done! yes!\nEO\nXEOF", "E \u00e9\n\u00e9\n \u00e9EO", "don't (again\nand again)", "fix (issue #12), (issue #13)", "\\\\ \\a \\$x \\` \\\"", "%s\\n", "<<'X'\nX", "case x in (a) esac",
	} {
		line := strings.Replace(printing(text), "git commit -m", "printf %s,", 1)
		var l shell.Line
		l.Read([]byte(line))
		if !l.Plain {
			t.Errorf("%q is not plain", line)
			continue
		}
		quotedToo(t, sh, text)
		out, err := exec.Command(sh, "-c", line).Output()
		if want := string(l.Commands[0].Words[2].Text) + ","; err != nil || string(out) != want {
			t.Errorf("%q: the shell prints %q, %v, want %q", line, out, err, want)
		}
	}
}

// quotedToo checks the reader of quotes in the same way.
func quotedToo(t *testing.T, sh, text string) {
	t.Helper()
	for _, quoted := range []string{"'" + text + "'", `"` + text + `"`} {
		var l shell.Line
		line := "printf %s, " + quoted
		if l.Read([]byte(line)); !l.Plain {
			continue
		}
		out, err := exec.Command(sh, "-c", line).Output()
		if want := string(l.Commands[0].Words[2].Text) + ","; err != nil || string(out) != want {
			t.Errorf("%q: the shell prints %q, %v, want %q", line, out, err, want)
		}
	}
}

// counter finds the end of a substitution as shells do that do not parse it: Bash 3.2 and others.
// It returns the offset of the closing parenthesis, -1 if there is none. Some know comments, some
// know nested quotes.
type counter struct {
	text             string
	comments, nested bool
}

func (c counter) end(at int, closing byte) int {
	for ; at < len(c.text); at++ {
		switch b := c.text[at]; {
		case b == closing:
			return at
		case b == '\\' && closing != '\'':
			at++
		case closing == '\'':
		case c.comments && closing == ')' && b == '#' && strings.IndexByte(" \n", c.text[at-1]) >= 0:
			for at < len(c.text) && c.text[at] != '\n' {
				at++
			}
		case closing == ')' && b == '(', b == '$' && (closing == ')' || c.nested) && at+1 < len(c.text) && strings.IndexByte("({[", c.text[at+1]) >= 0:
			end := byte(')')
			if b == '$' {
				at++
				end = map[byte]byte{'(': ')', '{': '}', '[': ']'}[c.text[at]]
			}
			if at = c.end(at+1, end); at < 0 {
				return -1
			}
		case closing == ')' && (b == '\'' || b == '"' || b == '`'), closing == '"' && c.nested && b == '`', closing == '}' && (b == '\'' || b == '"'):
			if at = c.end(at+1, b); at < 0 {
				return -1
			}
		}
	}
	return -1
}

// Proves E7, E11, I2: a shell that counts parentheses finds the real end of a text, or none at all.
func TestPrintedCounted(t *testing.T) {
	pieces := []string{"(", ")", "(", ")", "'", "\"", "`", "\\", "#", " #", "$(", "${", "}", "$[", "]", " ", "\n", "a", "(a)", "it's", "(#1)"}
	property.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 9).Draw(t, "text"), "")
		suffix := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{" x", " ')'", " '('", ` "`, ` "'"`, ` "x)"`, ";ls"}), 0, 3).Draw(t, "behind"), "")
		line := printing(text) + suffix
		var l shell.Line
		if l.Read([]byte(line)); !l.Plain {
			return
		}
		begin := strings.Index(line, "$(") + 2
		end := len(printing(text)) - 2
		for _, c := range []counter{{line, false, false}, {line, true, false}, {line, false, true}, {line, true, true}} {
			if got := c.end(begin, ')'); got != end && got != -1 {
				t.Fatalf("%q is plain, but ends at %d of %d: %q", line, got, end, line[:got+1])
			}
		}
	})
}
