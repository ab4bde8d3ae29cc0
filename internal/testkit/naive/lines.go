package naive

import (
	"slices"
	"strings"
)

// line is what is known about a command line. Lines are not parsed here, they are
// listed: the table below is written by hand, so that it shares no mistake with a parser.
type line struct {
	plain bool   // every shell reads it alike, and it opens no file
	parts []part // its simple commands in text order, each followed by those it runs
	lost  bool   // a path of it begins in a directory that is unknown
}

// part is one simple command.
type part struct {
	text  string   // its words, one blank between them
	runs  []string // what it runs, the same way
	paths []string // what it may read or write
}

// lines are the command lines that are more than words between blanks.
var lines = map[string]line{
	"git status; rm -rf x": {plain: true, parts: []part{{"git status", nil, []string{"status"}}, {"rm -rf x", nil, []string{"f", "x"}}}},
	"git status && ls":     {plain: true, parts: []part{{"git status", nil, []string{"status"}}, {"ls", nil, nil}}},
	"ls -l | rm x":         {plain: true, parts: []part{{"ls -l", nil, nil}, {"rm x", nil, []string{"x"}}}},
	"ls src/a\ngit push":   {plain: true, parts: []part{{"ls src/a", nil, []string{"src/a"}}, {"git push", nil, []string{"push"}}}},
	"echo $(rm x)":         {plain: true, parts: []part{{"echo $(rm\u00a0x)", nil, nil}, {"rm x", nil, []string{"x"}}}},
	"ls > .env":            {parts: []part{{"ls", nil, []string{".env"}}}},
	">x rm y":              {parts: []part{{"rm y", nil, []string{"x", "y"}}}},
	"ls 2>/dev/null":       {plain: true, parts: []part{{"ls", nil, nil}}},
	"X=1 rm x":             {parts: []part{{"rm x", nil, []string{"x"}}, {"1", nil, nil}}},
	"ls $x":                {parts: []part{{"ls ", nil, nil}}},
	"timeout 1 rm x":       {plain: true, parts: []part{{"timeout 1 rm x", []string{"rm x"}, []string{"1"}}, {"rm x", nil, []string{"x"}}}},
	"bash -c 'git status'": {plain: true, parts: []part{{"bash -c git\u00a0status", []string{"git status"}, []string{"git status", "status"}}, {"git status", nil, []string{"status"}}}},
	`src\..\.env`:          {plain: true, parts: []part{{"\u00a0src...env", nil, nil}}},
	"cd - && cat src/a":    {plain: true, parts: []part{{"cd -", nil, nil}, {"cat src/a", nil, []string{"src/a"}}}, lost: true},
	"if git status; then rm -rf x; else ls; fi": {plain: true, parts: []part{{"git status", nil, []string{"status"}}, {"rm -rf x", nil, []string{"f", "x"}}, {"ls", nil, nil}}},
	"while ls -l; do git push; done":            {plain: true, parts: []part{{"ls -l", nil, nil}, {"git push", nil, []string{"push"}}}},
	"case x in a) rm x;; *) ls;; esac":          {plain: true, parts: []part{{"rm x", nil, []string{"x"}}, {"ls", nil, nil}}},
	"for f in x .env; do rm $f; done":           {plain: true, parts: []part{{"rm x", nil, []string{"x"}}, {"rm .env", nil, []string{".env"}}}},
	"(ls; rm x)":                                {plain: true, parts: []part{{"ls", nil, nil}, {"rm x", nil, []string{"x"}}}},
	"{ git status; ls -l; } > .env":             {parts: []part{{"git status", nil, []string{"status", ".env"}}, {"ls -l", nil, []string{".env"}}}},
	"while ls; do rm x & done":                  {parts: []part{{"ls", nil, nil}, {"rm x", nil, []string{"x"}}}},
	"":                                          {parts: []part{{"", nil, nil}}},
}

// safe are the characters that mean themselves in every shell.
const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%"

// Listed reports a command line or a patch that only a table explains.
func Listed(text string) bool {
	_, line := lines[text]
	_, patch := patches[text]
	return line && text != "" || patch
}

// lineOf finds a line in the table; any other is one command of words between blanks.
func lineOf(text string) line {
	if l, ok := lines[text]; ok {
		return l
	}
	if words, whole, ok := vectorWords(text); ok {
		return vectorLine(words, whole)
	}
	l := line{plain: plainLine(text)}
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		words := strings.FieldsFunc(one, func(r rune) bool { return r == ' ' || r == '\t' })
		if len(words) == 0 {
			continue
		}
		p := part{text: strings.Join(words, " ")}
		for i, w := range words {
			if i > 0 {
				p.paths = append(p.paths, named(w)...)
			}
		}
		l.parts = append(l.parts, p)
	}
	if len(l.parts) == 0 {
		l.parts = []part{{}}
	}
	return l
}

// named are the paths that a word behind a program may be: itself, or what stands behind some
// of the letters of an option.
func named(word string) (paths []string) {
	switch {
	case word == "":
		return nil
	case word[0] != '-':
		return []string{word}
	case strings.HasPrefix(word, "--"):
		return nil
	}
	for at := 2; at < len(word); at++ {
		paths = append(paths, word[at:])
	}
	return paths
}

// plainLine reports whether a command line is a list of simple commands of literal
// words.
func plainLine(text string) bool {
	if l, ok := lines[text]; ok {
		return l.plain
	}
	if words, whole, ok := vectorWords(text); ok {
		return vectorLine(words, whole).plain
	}
	for _, part := range strings.Split(text, "\n") {
		if words := strings.FieldsFunc(part, func(r rune) bool { return r == ' ' || r == '\t' }); len(words) > 0 && strings.Trim(words[0], safe) != "" {
			return false
		}
	}
	return strings.TrimSpace(text) != "" && strings.Trim(text, safe+" \t\nÿ") == ""
}

// matchesPart compares the words of a simple command, and for suspicion those of what
// it runs.
func matchesPart(kind, literal string, p part, plain, permissive bool) bool {
	if permissive {
		return plain && sameWords(kind, literal, p.text)
	}
	for _, text := range append([]string{p.text}, p.runs...) {
		if sameWords(kind, literal, text) || sameWords(kind, literal, forms3(text)[1]) {
			return true
		}
	}
	return false
}

func sameWords(kind, literal, text string) bool {
	words, want := strings.Split(text, " "), strings.Fields(literal)
	if len(words) < len(want) || kind != "prefix" && len(words) != len(want) {
		return false
	}
	return strings.Join(words[:len(want)], " ") == strings.Join(want, " ")
}

// matchesCommand judges a line as a whole: certainty needs every command of it,
// suspicion needs one.
func matchesCommand(kind, literal, text string, permissive bool) bool {
	l := lineOf(text)
	for _, p := range l.parts {
		if matchesPart(kind, literal, p, l.plain, permissive) != permissive {
			return !permissive
		}
	}
	return permissive
}

// pathsOf are the words of a line that may name files (K0a). Of those that ls shows it is
// only asked where they lie.
func pathsOf(kind, text string) (all []string) {
	l := lineOf(text)
	for _, p := range l.parts {
		if program, _, _ := strings.Cut(p.text, " "); program == "ls" && l.plain && kind != "outside" {
			continue
		}
		all = append(all, p.paths...)
	}
	return all
}

// test applies the condition to a value. A guard on paths that sees a command line in an
// unknown directory does not know the files.
func (l *look) test(n *Node, v view, permissive bool) (hit bool, at int) {
	if !permissive && l.cond.On == "path" && textual(l.cond) && lines[n.Text].lost && slices.Contains(v.annotations(), "command") {
		l.lost = append(l.lost, n)
	}
	return l.policy.test(l.cond, n, v, permissive)
}
