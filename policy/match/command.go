package match

import (
	"bytes"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Command is what is known about a shell command line.
type Command struct {
	// Analysable: the line is a list of simple commands with literal words. If not,
	// it satisfies no permissive condition, and a tool with any condition on the
	// parameter gets the floor command_not_analysable (THREATS E).
	Analysable bool
	// Simple holds the words of each simple command, in text order.
	Simple [][]string
}

// Analyse reads a command line. Analysable is what every shell reads alike: one
// simple command of words from a safe set of characters, without assignment,
// quoting, expansion, redirection or operator.
func Analyse(line string) Command {
	if !isPlainLine([]byte(line)) {
		return Command{}
	}
	return Command{Analysable: true, Simple: [][]string{strings.Fields(line)}}
}

// isPlainLine reports that a line is one simple command of literal words.
func isPlainLine(line []byte) bool {
	first, rest := nextWord(line)
	if len(first) == 0 || first[0] == '%' || isAssignment(first) || shellReserved[string(first)] {
		return false
	}
	for word := first; len(word) > 0; word, rest = nextWord(rest) {
		if word[0] == '=' {
			return false
		}
		for _, b := range word {
			if !wordBytes[b] {
				return false
			}
		}
	}
	return true
}

// wordBytes are the bytes that no shell reads as anything but themselves.
var wordBytes = func() (t [256]bool) {
	for _, b := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%" {
		t[b] = true
	}
	return t
}()

// nextWord cuts the first word off a text, at blanks.
func nextWord(text []byte) (word, rest []byte) {
	for len(text) > 0 && isBlank(text[0]) {
		text = text[1:]
	}
	for i, b := range text {
		if isBlank(b) {
			return text[:i], text[i:]
		}
	}
	return text, nil
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// isAssignment reports NAME=... or NAME+=...
func isAssignment(word []byte) bool {
	at := bytes.IndexByte(word, '=')
	if at <= 0 {
		return false
	}
	name := bytes.TrimSuffix(word[:at], []byte("+"))
	return len(name) > 0 && nameEnd(string(name), 0) == len(name)
}

// shellReserved are words that do not name the command behind them.
var shellReserved = set("! [[ ]] case coproc do done elif else esac fi for foreach function if in repeat select then time until while { }")

// wrappers are commands whose arguments may be a command again (E13 to E15).
var wrappers = set(`. bash builtin busybox chroot command csh dash doas env eval exec fd fdfind find fish flock ionice ksh ltrace
	nice nohup npx nsenter parallel pkexec powershell pwsh runuser script setarch setpriv setsid sh source ssh stdbuf strace su sudo
	systemd-run taskset tcsh time timeout unshare watch xargs zsh`)

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// commandTest judges a command line.
type commandTest struct {
	kind        Kind
	restrictive bool
	literals    []commandLiteral // const, enum, prefix: by words
	text        wholeTest        // other kinds: by text
}

type commandLiteral struct {
	words []string
	raw   string // the literal as written, if it is more than plain words
}

func compileCommand(s Spec, restrictive bool) (textTest, *SpecError) {
	t := &commandTest{kind: s.Kind, restrictive: restrictive}
	switch s.Kind {
	case Const, Enum, Prefix:
		for i, lit := range s.Values {
			plain := isPlainLine([]byte(lit.Text))
			c := commandLiteral{words: strings.Fields(lit.Text)}
			switch {
			case len(c.words) == 0:
				return nil, whole(i, "has no words", "")
			case !plain && !restrictive:
				return nil, whole(i, "is not a plain command, so the condition never matches", "write one command without quotes, operators and expansions")
			case !plain:
				c.raw = strings.TrimSpace(lit.Text)
			}
			t.literals = append(t.literals, c)
		}
		return t, nil
	case Pattern:
		test, err := compilePatterns(s)
		t.text = test
		return t, err
	}
	n, err := stringLanguage(s)
	if err != nil {
		return nil, err
	}
	t.text = languageTest{n.Compile()}
	return t, nil
}

func (t *commandTest) match(line []byte) bool { return t.line(line, isPlainLine(line)) }

func (t *commandTest) judge(v *Value) bool { return t.line(v.text, v.isPlainLine()) }

func (t *commandTest) line(line []byte, plain bool) bool {
	switch {
	case plain:
		return t.restrictive && t.piece(line) || t.begins(line)
	case !t.restrictive:
		return false
	case t.scan(line):
		return true
	}
	other := norm.NFKC.String(strings.Map(func(r rune) rune {
		if invisible(r) && r != '\t' && r != '\n' && r != '\r' {
			return -1
		}
		return r
	}, string(line)))
	return other != string(line) && t.scan([]byte(other))
}

// scan judges every piece of a line that some shell may run as a command: the
// parts between operators, with quotes removed, and what wrappers run.
func (t *commandTest) scan(line []byte) bool {
	if t.raw(line) {
		return true
	}
	pieces := shellPieces{line: line}
	for pieces.next() {
		if t.piece(pieces.text) {
			return true
		}
	}
	return false
}

// raw judges the line as a text.
func (t *commandTest) raw(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	if t.text != nil {
		return t.text.holds(line) || t.text.holds(trimmed)
	}
	for _, lit := range t.literals {
		rest, ok := bytes.CutPrefix(trimmed, []byte(lit.raw))
		if lit.raw != "" && ok && (t.kind == Prefix || len(rest) == 0) {
			return true
		}
	}
	return false
}

// maxBeginnings is from how many places of one piece a text is judged that is not
// compared by words; a piece with more of them is suspect as it is.
const maxBeginnings = 256

// piece judges words between blanks from every place where a command may begin.
func (t *commandTest) piece(text []byte) bool {
	judged := 0
	begins := func(text []byte) bool {
		judged++
		return t.text != nil && judged > maxBeginnings || t.begins(text)
	}
	behind, command := false, true // behind a wrapper; the word may be a command
	for {
		word, rest := nextWord(text)
		if len(word) == 0 {
			return false
		}
		text = text[len(text)-len(rest)-len(word):]
		if (behind || command) && begins(text) {
			return true
		}
		for i, b := range word {
			if b == '=' && i+1 < len(word) && begins(text[i+1:]) {
				return true
			}
		}
		var buf [16]byte
		name := appendLower(buf[:0], baseName(word))
		behind = behind || command && wrappers[string(name)]
		command = command && (isAssignment(word) || shellReserved[string(name)])
		text = rest
	}
}

// begins judges a text whose first word is a command. Words are compared as
// words; everything else sees them with single spaces between them.
func (t *commandTest) begins(text []byte) bool {
	if t.text != nil {
		var buf [256]byte
		return t.text.holds(appendWords(buf[:0], text))
	}
	for i := range t.literals {
		if t.beginsWith(text, t.literals[i].words) {
			return true
		}
	}
	return false
}

func (t *commandTest) beginsWith(text []byte, words []string) bool {
	var word []byte
	for i, want := range words {
		word, text = nextWord(text)
		same := string(word) == want
		if i == 0 && t.restrictive {
			same = sameProgram(word, want)
		}
		if !same {
			return false
		}
	}
	word, _ = nextWord(text)
	return t.kind == Prefix || len(word) == 0
}

// appendWords appends the words of a text with single spaces between them.
func appendWords(dst, text []byte) []byte {
	for {
		word, rest := nextWord(text)
		if len(word) == 0 {
			return dst
		}
		if len(dst) > 0 {
			dst = append(dst, ' ')
		}
		dst, text = append(dst, word...), rest
	}
}

// appendLower appends text with its ASCII letters in lower case.
func appendLower(dst, text []byte) []byte {
	for _, b := range text {
		dst = append(dst, lowerASCII(b))
	}
	return dst
}

// sameProgram compares the word that names a program: also by its last
// component, and without case, as some file systems do.
func sameProgram(word []byte, name string) bool {
	return equalFold(word, name) || equalFold(baseName(word), name)
}

func baseName(word []byte) []byte { return word[bytes.LastIndexAny(word, `/\`)+1:] }
