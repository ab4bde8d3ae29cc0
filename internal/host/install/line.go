package install

import (
	"slices"
	"strings"
	"time"
)

// words returns the command line: the program and its arguments.
func (c Command) words(host string, deadline time.Duration) []string {
	words := []string{c.Program, "hook", host, "--deadline", deadline.String()}
	if c.Small {
		words = append(words[:1], words[2:]...)
	}
	return append(words, c.Flags...)
}

// line returns the shell command of a host. A missing or killed program has an exit status of its
// own, which hosts treat as a failure that does not block.
func (c Command) line(host string, deadline time.Duration) string {
	return shell(c.words(host, deadline))
}

// shell returns the line that starts a program with its arguments.
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

// observe is the flag of a hook that only records.
const observe = "--observe"

func (c Command) observes() bool { return slices.Contains(c.Flags, observe) }

// quote quotes a word for a POSIX shell.
func quote(word string) string {
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plain reports whether a character is literal in a shell.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:@+,", r)
}

// Program returns the program that a command line of [Plan.Lines] starts, and whether it is
// stopgate-hook.
func Program(line string) (path string, small bool) {
	words := split(line)
	if len(words) == 0 {
		return "", false
	}
	return words[0], len(words) == 1 || words[1] != "hook"
}

// Parse parses a command line of [Plan.Lines]. It returns false for one that no installation
// writes.
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

// split splits a command line into words that are quoted as quote does.
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

// cutWord splits off the first word of a command line; false if there is none that ends before a
// space or the end.
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
