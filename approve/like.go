package approve

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
	"github.com/stopgate/stopgate/internal/schema"
)

// checkers are commands that read, build or test the files that their operands name, all of them code of
// the project already, with their options that take no value.
var checkers = []struct{ words, flags string }{
	{"go test", "-v -race -short -failfast -cover -json"},
	{"go vet", "-v -json"},
	{"go build", "-v -race"},
	{"gofmt", "-l -d -w -s"},
	{"pytest", "-v -vv -q -x -s -l"},
	{"python -m pytest", "-v -vv -q -x -s -l"},
	{"python3 -m pytest", "-v -vv -q -x -s -l"},
	{"mypy", "--strict"},
	{"ruff check", "--fix -q"},
	{"ruff format", "--check --diff -q"},
	{"black", "--check --diff -q"},
	{"eslint", "--fix --quiet"},
	{"npx eslint", "--fix --quiet"},
	{"prettier", "--check --write -c -w -l"},
	{"npx prettier", "--check --write -c -w -l"},
	{"jest", "--verbose --silent"},
	{"npx jest", "--verbose --silent"},
	{"vitest run", ""},
	{"npx vitest run", ""},
	{"node --test", ""},
	{"rustfmt", "--check"},
	{"rspec", ""},
	{"phpunit", ""},
}

// newBranches are commands whose last word names a branch that they create.
var newBranches = []string{"git checkout -b", "git switch -c", "git switch --create"}

// messageOptions are options of git commit whose value is only a text.
var messageOptions = []string{"-m", "-am", "--message"}

// maxPattern bounds the words of a pattern.
const maxPattern = 40

// subcommandOffer varies the message of git commit, or the name of a new branch.
func subcommandOffer(e Entry) (x Extension, ok bool) {
	leaf, c, ok := onlyCommand(e)
	if !ok {
		return x, false
	}
	fields := fieldsOf(c)
	head := strings.Join(fields[:min(2, len(fields))], " ")
	example, of := "another message", ""
	switch n := len(fields); {
	case head == "git commit":
		found := false
		for i := 2; i < n; i++ {
			if slices.Contains(messageOptions, fields[i-1]) {
				fields[i], found = "*", true
			}
		}
		if !found {
			return x, false
		}
		of = " with any message"
	case n == 4 && slices.Contains(newBranches, strings.Join(fields[:3], " ")) && plainName(fields[3]):
		fields[3], example, of = "*", "another-branch", " with any name of a branch"
	default:
		return x, false
	}
	pattern, ok := patternOf(fields)
	if !ok {
		return x, false
	}
	if strings.Contains(example, " ") {
		example = "'" + example + "'"
	}
	return Extension{
		Name: "subcommand", Title: "this subcommand: " + pattern, Wider: []Value{{Pointer: leaf.Pointer, How: Like, Text: pattern}},
		Sentence: fmt.Sprintf("%s runs %s unasked%s, and no other words", e.Tool, pattern, of), Example: strings.ReplaceAll(pattern, "*", example),
	}, true
}

// commandDirectoryOffer varies the one operand of a command that names a file in a directory.
func commandDirectoryOffer(e Entry) (x Extension, ok bool) {
	leaf, c, ok := onlyCommand(e)
	if !ok {
		return x, false
	}
	fields := fieldsOf(c)
	first, flags, known := operandsOf(fields)
	if !known {
		return x, false
	}
	at := -1
	for i := first; i < len(fields); i++ {
		if !strings.Contains(fields[i], "/") {
			continue
		}
		if at >= 0 { // one of several operands has another meaning
			return x, false
		}
		at = i
	}
	if at < 0 || !plainName(fields[at]) || flags != nil && fields[at-1][0] == '-' && !slices.Contains(flags, fields[at-1]) {
		return x, false
	}
	cleaned := strings.TrimSuffix(fields[at], "/")
	here := strings.HasPrefix(cleaned, "./")
	dir := path.Dir(cleaned)
	if !grantableDirectory(dir) {
		return x, false
	}
	if here { // which some programs need
		dir = "./" + dir
	}
	file := another(path.Base(cleaned))
	fields[at] = dir + "/*"
	pattern, ok := patternOf(fields)
	if !ok {
		return x, false
	}
	return Extension{
		Name: "directory", Title: "this directory: " + pattern, Wider: []Value{{Pointer: leaf.Pointer, How: Like, Text: pattern}},
		Sentence: fmt.Sprintf("%s runs %s unasked for everything below %s, and no other words", e.Tool, pattern, dir),
		Example:  strings.ReplaceAll(pattern, "*", file),
	}, true
}

// operandsOf returns the index of the first operand of a command whose operands all name files that it
// only reads, writes, builds or tests, and its options without a value; nil flags allow any.
func operandsOf(fields []string) (first int, flags []string, ok bool) {
	if effect.Certain([]byte(fields[0])) && fields[0] != "rm" && fields[0] != "rmdir" && !programs.TakesCode([]byte(fields[0])) {
		return 1, nil, true
	}
	for _, row := range checkers {
		words := strings.Fields(row.words)
		if len(fields) > len(words) && slices.Equal(fields[:len(words)], words) {
			return len(words), append(strings.Fields(row.flags), words[len(words)-1]), true
		}
	}
	return 0, nil, false
}

// onlyCommand returns the command of a question with a single command line of a single plain command.
func onlyCommand(e Entry) (leaf gate.Leaf, c *shell.Command, ok bool) {
	for _, l := range e.Leaves {
		switch {
		case !isCommand(l):
		case leaf.Pointer != "":
			return leaf, nil, false
		default:
			leaf = l
		}
	}
	if leaf.Pointer == "" {
		return leaf, nil, false
	}
	c, ok = readCommand(leaf.JSON)
	return leaf, c, ok && len(c.Words) > 1 && len(c.Words) <= maxPattern
}

// readCommand parses a command line, or an argument vector, of one plain command that runs no other and
// opens no file by a redirection.
func readCommand(json string) (*shell.Command, bool) {
	var l shell.Line
	if words, ok := wordsOf(json); ok {
		l.ReadWords(words, true)
	} else if text, ok := textOf(json); ok {
		l.Read(text)
	}
	if !l.Plain || !l.Complete || l.Excess || len(l.Commands) != 1 {
		return nil, false
	}
	c := &l.Commands[0]
	harmless := !slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return !r.Harmless() })
	return c, c.Plain && !c.Runs && !c.Open && harmless && len(c.Words) > 0
}

// fieldsOf returns the words of a command.
func fieldsOf(c *shell.Command) []string {
	fields := make([]string, len(c.Words))
	for i, w := range c.Words {
		fields[i] = string(w.Text)
	}
	return fields
}

// patternOf joins the words of a pattern. It fails if one would not be read as it was written.
func patternOf(fields []string) (string, bool) {
	for _, f := range fields {
		if literal := strings.TrimSuffix(f, "*"); literal != "" && !isLiteral(literal) {
			return "", false
		}
	}
	return strings.Join(fields, " "), true
}

// isLiteral reports whether a word has only characters without a meaning to shells and in usages.
func isLiteral(word string) bool {
	for _, c := range []byte(word) {
		if !shell.IsLetter(c) && (c < '0' || c > '9') && !strings.ContainsRune("-./:=,@%+", rune(c)) {
			return false
		}
	}
	return word != ""
}

// plainName reports whether a word is the name of a file below the current directory, or of a branch:
// no option, no address, nothing that is hidden or leads out.
func plainName(word string) bool {
	rest := strings.TrimPrefix(word, "./")
	for name := range strings.SplitSeq(strings.TrimSuffix(rest, "/"), "/") {
		if name == "" || name[0] == '.' && name != "..." || name[0] == '-' {
			return false
		}
	}
	return isLiteral(rest) && !strings.ContainsAny(rest, ":=,@%+")
}

// like reports whether a value is one plain command with the words of a pattern: "DIR/*" is a file below
// DIR and "*" a name, each by its plain name, or the text after an option of git commit. The shell and
// the program read it as the matcher of policies for permissions does.
func like(pattern, value string) bool {
	c, ok := readCommand(value)
	fields := strings.Fields(pattern)
	if !ok || len(c.Words) != len(fields) || !follows(pattern, value) {
		return false
	}
	for i, f := range fields {
		w := &c.Words[i]
		text := string(w.Text)
		dir, varies := strings.CutSuffix(f, "*")
		switch {
		case !w.Literal, w.Home, w.Tilde:
			return false
		case !varies:
			if w.Quoted || text != f {
				return false
			}
		case dir == "" && i > 1 && isMessage(fields[:i]):
			if text == "" || text[0] == '-' || bytes.IndexByte(w.Text, 0) >= 0 {
				return false
			}
		default:
			if name, below := strings.CutPrefix(text, dir); !below || name == "" || w.Quoted || !plainName(text) {
				return false
			}
		}
	}
	return true
}

// isMessage reports whether the next word of a command is the message of a commit.
func isMessage(words []string) bool {
	return words[0] == "git" && words[1] == "commit" && slices.Contains(messageOptions, words[len(words)-1])
}

// follows reports whether a command certainly follows a pattern, as a usage of a policy.
func follows(pattern, value string) bool {
	literal := condition.Literal{Kind: condition.LiteralString, Text: pattern}
	m, err := match.Compile(kinds.Table().Spec(condition.Usage, literal),
		condition.Target{Type: schema.String, Annotation: schema.Command}, false, condition.Env{})
	if err != nil {
		return false
	}
	return judges(m, value)
}

// judges reports whether a matcher of commands or paths matches a value.
func judges(m *match.Matcher, value string) bool {
	if words, ok := wordsOf(value); ok {
		var v condition.Value
		v.ResetWords(commandline.AppendWords(nil, words), words, true)
		return m.Judge(&v)
	}
	text, ok := textOf(value)
	return ok && m.Match(text)
}
