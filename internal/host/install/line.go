package install

import (
	"slices"
	"strings"
	"time"
)

// words are the command line: the program, and what it is told.
func (c Command) words(host string, deadline time.Duration) []string {
	words := []string{c.Program, "hook", host, "--deadline", deadline.String()}
	if c.Small {
		words = append(words[:1], words[2:]...)
	}
	return append(words, c.Flags...)
}

// line is the shell command of a host. A program that is missing or was killed has an
// exit status of its own, which hosts take for a hook that does not matter.
func (c Command) line(host string, deadline time.Duration) string {
	return shell(c.words(host, deadline))
}

// shell is the line that starts a program with its arguments.
func shell(words []string) string {
	observes := slices.Contains(words, observe)
	words = slices.Clone(words)
	for i, word := range words {
		words[i] = quote(word)
	}
	if observes {
		return strings.Join(words, " ")
	}
	return strings.Join(words, " ") + " || { s=$?; [ $s = 2 ] || [ $s = 49 ] || echo 'stopgate did not answer: the call is blocked' >&2; [ $s = 49 ] && exit 49; exit 2; }"
}

// observe is the flag of a hook that holds nothing back.
const observe = "--observe"

func (c Command) observes() bool { return slices.Contains(c.Flags, observe) }

// quote writes a word for a POSIX shell.
func quote(word string) string {
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plain reports whether a character means nothing to a shell.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:@+,", r)
}

// Program is the program that a command line of [Plan.Lines] starts, and whether it is the
// small one.
func Program(line string) (path string, small bool) {
	words := split(line)
	if len(words) == 0 {
		return "", false
	}
	return words[0], len(words) == 1 || words[1] != "hook"
}

// Parse reads a command line of [Plan.Lines]: what is started, and with which flags. It
// reports false for one that no installation writes.
func Parse(line string) (c Command, ok bool) {
	words := split(line)
	if len(words) == 0 {
		return c, false
	}
	c.Program, words = words[0], words[1:]
	if c.Small = len(words) == 0 || words[0] != "hook"; !c.Small {
		words = words[1:]
	}
	if len(words) < 3 || words[1] != "--deadline" {
		return c, false
	}
	c.Flags = words[3:]
	return c, true
}

// split takes a command line into its words, as far as they are written as quote writes
// them.
func split(line string) (words []string) {
	for {
		line = strings.TrimLeft(line, " ")
		word, rest, ok := cutWord(line)
		if !ok {
			return words
		}
		words, line = append(words, word), rest
	}
}

// cutWord takes the first word off a command line; false if there is none that ends
// before a space or the end.
func cutWord(line string) (word, rest string, ok bool) {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ':
			return word, line[i:], true
		case c == '\'':
			inside, _, closed := strings.Cut(line[i+1:], "'")
			if !closed {
				return "", line, false
			}
			word += inside
			i += len(inside) + 2
		case strings.HasPrefix(line[i:], `\'`):
			word += "'"
			i += 2
		case plain(rune(c)):
			word += string(c)
			i++
		default:
			return "", line, false
		}
	}
	return word, "", line != ""
}
