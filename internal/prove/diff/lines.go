package diff

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// synopsis is a usage as lines are made of it: its words, and the options that may stand from
// each word on.
type synopsis struct {
	words   []string
	options [][]string
}

func synopsisOf(usage string) synopsis {
	s := synopsis{}
	for rest := strings.TrimSpace(usage); rest != ""; rest = strings.TrimSpace(rest) {
		if len(rest) > 1 && rest[0] == '[' && strings.IndexByte("-+!", rest[1]) >= 0 {
			depth, end := 0, 0
			for end = range len(rest) {
				depth += strings.Count(rest[end:end+1], "[") - strings.Count(rest[end:end+1], "]")
				if depth == 0 {
					break
				}
			}
			if rest[1] != '!' && len(s.words) > 0 {
				s.options[len(s.words)-1] = append(s.options[len(s.words)-1], strings.Split(rest[1:end], "|")...)
			}
			rest = rest[end+1:]
			continue
		}
		word, after, _ := strings.Cut(rest, " ")
		s.words, s.options = append(s.words, word), append(s.options, nil)
		rest = after
	}
	return s
}

// class is a set of characters in a glob.
var class = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[!?(\\?.)[^\]]*\]`) })

// written writes a word of a usage with many in place of "**" and star in place of "*".
func (s synopsis) written(word, many, star string, choice int) string {
	switch word {
	case "**":
		return many
	case "<command>":
		return "true"
	case "<script>":
		return map[string]string{"j": ".", "a": "'{print}'", "s": "p"}[strings.TrimLeft(s.words[0], "{")[:1]]
	case "<system>":
		return "/"
	case "<root>":
		return assumedRoot
	case "<below>":
		return "src"
	case "<local>":
		return "http://localhost:8080/"
	}
	alternatives := syntax.Alternatives(word)
	word = class().ReplaceAllString(alternatives[min(choice, len(alternatives)-1)], "$1")
	return strings.NewReplacer(`\`, "", "*", star, "?", "x").Replace(word)
}

// line writes a command that follows the usage, with the option at a word. The choice is for
// the alternatives of that word.
func (s synopsis) line(many, star string, at, choice int, option string) string {
	var out []string
	for i, word := range s.words {
		use := 0
		if i == at {
			use = choice
		}
		out = append(out, s.written(word, many, star, use))
		if i == at && option != "" {
			name, value, valued := strings.Cut(option, " ")
			digits := "5" // for -[0-9]*
			if !strings.Contains(name, "[") {
				digits = "x"
			}
			if out = append(out, s.written(name, "", digits, 0)); valued {
				out = append(out, s.written(value, "x", "x", 0))
			}
		}
	}
	return strings.Join(slices.DeleteFunc(out, func(word string) bool { return word == "" }), " ")
}

// operands replace "**": the empty word, a name, files in the project and outside of it, and
// words that some programs read as hosts or settings.
var operands = []string{"x", "", "q7/w9", "/usr/include/x", "src", "x:y", "q7=x"}

// linesOf lists commands that follow a usage: with other words, with each option, with each
// alternative of a word.
func linesOf(usage string) (list []string) {
	s := synopsisOf(usage)
	if len(s.words) == 0 {
		return nil
	}
	for _, many := range operands {
		list = append(list, s.line(many, "x", -1, 0, ""))
	}
	for _, line := range list {
		if strings.Contains(usage, "<command>") { // with the end of the options, which some usages do not permit
			list = append(list, strings.Replace(line, "true", "ls -- x", 1))
		}
	}
	list = append(list, s.line("", "5", -1, 0, ""), s.line("x", "5", -1, 0, ""), s.line("x", "1", -1, 0, ""))
	for i := range s.words {
		for _, option := range s.options[i] {
			list = append(list, s.line("x", "x", i, 0, option), s.line("", "x", i, 0, option))
		}
		for choice := 1; choice < min(len(syntax.Alternatives(s.words[i])), 40); choice++ {
			list = append(list, s.line("x", "x", i, choice, ""), s.line("", "x", i, choice, ""))
			for _, option := range s.options[i] {
				list = append(list, s.line("x", "x", i, choice, option))
			}
		}
	}
	return distinctTexts(list)
}

func distinctTexts(list []string) []string {
	seen := make(map[string]bool)
	return slices.DeleteFunc(list, func(text string) bool {
		again := seen[text]
		seen[text] = true
		return again || text == ""
	})
}

// surroundings are added to lines: only some rules permit them.
var surroundings = []string{"", " < x", " < /usr/include/x", " > src/q7", " > /dev/null", " 2>&1", " && ls"}

// linesFor lists command lines that an edited rule may now match or no longer match: lines that
// follow the usages that it lost or gained, and lines that other rules permit, with a suspected
// command inserted.
func (e *toolEdits) linesFor(side, n int, r *symbolic.Rule, k *symbolic.Condition) (list []string) {
	moved := e.moved(side, n, r, k)
	if r.Mode.Permissive() {
		if twin := e.twin(1-side, n, r); twin != nil && !e.sameOtherwise(r, twin) {
			moved = k.Spec.Values // another condition was edited
		}
		for _, around := range surroundings {
			for _, lit := range moved {
				if k.Spec.Kind == condition.Usage {
					lines := linesOf(lit.Text)
					for _, line := range lines[:min(len(lines), maxLinesOfUsage)] {
						list = append(list, line+around)
					}
				}
			}
		}
		for _, lit := range moved {
			for _, command := range e.suspected(k) {
				line := synopsisOf(lit.Text).line("x", "x", -1, 0, "")
				list = append(list, line+" --q7="+command, line+" 'q7="+command+"'", strings.Replace(line, "x", "'q7="+command+"'", 1))
				s := synopsisOf(lit.Text)
				for i, options := range s.options {
					for _, option := range options {
						if name, value, _ := strings.Cut(option, " "); value == "*" {
							list = append(list, s.line("", "x", i, 0, name)+" 'q7="+command+"'")
							break
						}
					}
				}
			}
		}
		return list
	}
	for _, lit := range moved {
		switch k.Spec.Kind {
		case condition.Usage:
			list = append(list, linesOf(lit.Text)...)
			list = append(list, e.permittedWith(k, lit.Text)...)
		case condition.Pattern:
			list = append(list, e.permittedLike(k, lit.Text)...)
		}
	}
	return list
}

// suspected lists commands that rules which restrict look for, some of each.
func (e *toolEdits) suspected(k *symbolic.Condition) (list []string) {
	for _, b := range e.bound {
		for _, r := range b.rules {
			for _, l := range r.Bound {
				if r.Mode.Permissive() || l.Key != k.Key || l.Spec.Kind != condition.Usage {
					continue
				}
				for _, lit := range l.Spec.Values[:min(2, len(l.Spec.Values))] {
					list = append(list, synopsisOf(lit.Text).line("x", "x", -1, 0, ""))
				}
			}
		}
	}
	return distinctTexts(list)
}

// maxLinesOfUsage is how many lines are made of one usage in each surrounding.
const maxLinesOfUsage = 60

// permissions yields the usages of rules that permit commands, with a place where they may
// write, "" for none.
func (e *toolEdits) permissions(k *symbolic.Condition, yield func(usage, writes string)) {
	seen := make(map[string]bool)
	for _, b := range e.bound {
		for _, r := range b.rules {
			writes := ""
			for _, l := range r.Bound {
				if l.Spec.Kind == condition.Writes && l.Key == k.Key {
					if texts := symbolic.Guesses(&condition.Spec{Kind: condition.Glob}, l.Spec.Values[0].Text, 1); len(texts) > 0 {
						writes = " > " + texts[0]
					}
				}
			}
			for _, l := range r.Bound {
				if !r.Mode.Permissive() || l.Spec.Kind != condition.Usage || l.Key != k.Key {
					continue
				}
				for _, lit := range l.Spec.Values {
					if key := lit.Text + writes; !seen[key] {
						seen[key] = true
						yield(lit.Text, writes)
					}
				}
			}
		}
	}
}

// permittedWith lists permitted commands with another one in them: its words after theirs, or
// in the value of a word or an option, where suspicion finds it.
func (e *toolEdits) permittedWith(k *symbolic.Condition, suspected string) (list []string) {
	s := synopsisOf(suspected)
	if len(s.words) == 0 {
		return nil
	}
	command := s.line("x", "x", -1, 0, "")
	tails := []string{command, s.line("", "", -1, 0, "")}
	for i, tail := range tails {
		_, tails[i], _ = strings.Cut(tail, " ")
	}
	programs := syntax.Alternatives(s.words[0])
	var same, other []string
	e.permissions(k, func(usage, writes string) {
		p := synopsisOf(usage)
		shares := slices.ContainsFunc(syntax.Alternatives(p.words[0]), func(name string) bool { return slices.Contains(programs, name) })
		for choice := range min(len(syntax.Alternatives(p.words[0])), 40) {
			line := p.line("x", "x", 0, choice, "")
			if program, _, _ := strings.Cut(line, " "); shares && slices.Contains(programs, program) {
				for _, option := range append([]string{""}, slices.Concat(p.options...)...) {
					option, _, _ = strings.Cut(option, " ")
					for _, tail := range tails {
						same = append(same, strings.Replace(strings.TrimSpace(p.line("", "x", 0, choice, option))+" "+tail+writes, "  ", " ", 1))
					}
				}
			}
			if choice == 0 {
				other = append(other, line+" 'q7="+command+"'"+writes, line+" --q7="+command+writes)
			}
		}
	})
	slices.SortStableFunc(other, func(a, b string) int { // rules below permit those that write
		return strings.Count(b, ">") - strings.Count(a, ">")
	})
	return append(same, other...)
}

// patternWord finds words that a pattern may look for.
var patternWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z][A-Za-z-]+`) })

// permittedLike lists permitted commands that a pattern finds.
func (e *toolEdits) permittedLike(k *symbolic.Condition, text string) (list []string) {
	p, err := regular.Compile(text)
	if err != nil {
		return nil
	}
	added := append([]string{"", "x:y", ":y", "x@y", "x//y", "-E"}, patternWord().FindAllString(text, 24)...)
	added = append(added, p.Sample(), p.Literal(), "&& echo x:y", "&& echo x@y", "&& echo //")
	e.permissions(k, func(usage, writes string) {
		lines := linesOf(usage)
		for _, line := range lines[:min(len(lines), maxLinesOfUsage)] {
			for _, word := range added {
				if written := strings.TrimSpace(line+" "+word) + writes; p.Match([]byte(written)) {
					list = append(list, written)
				}
			}
		}
		s := synopsisOf(usage)
		for at, options := range s.options {
			for _, option := range options {
				name, value, _ := strings.Cut(option, " ")
				for _, word := range added {
					if value != "*" || word == "" || strings.Contains(word, " ") {
						continue
					}
					if written := s.line("", "x", at, 0, name+" "+word) + writes; p.Match([]byte(written)) {
						list = append(list, written)
					}
				}
			}
		}
	})
	return list
}
