package naive

import "strings"

// An argument vector is judged as a text of its own: its words behind marks that no word
// has, the first mark saying whether every element is a word.
const (
	wholeMark = "\x01"
	partsMark = "\x02"
)

// vector reports whether an array here is an argument vector.
func (v view) vector() bool {
	for _, s := range v {
		if s.Annotation == "argv" {
			return true
		}
	}
	return false
}

// vectorView is what is known about the text of a vector.
var vectorView = viewOf(&Schema{Types: []string{String}, Annotation: "command"})

// vector is the array as the text of one command, known with its last byte; nil if it
// has no words.
func (n *Node) vector() *Node {
	if n.line == nil && n.End < Never {
		words, whole := n.words()
		if len(words) == 0 {
			return nil
		}
		mark := wholeMark
		if !whole {
			mark = partsMark
		}
		n.line = &Node{Kind: String, Text: mark + strings.Join(words, mark), Start: n.End, End: n.End}
	}
	return n.line
}

// words are the scalars in a container; whole says that it is a list of strings.
func (n *Node) words() (words []string, whole bool) {
	whole = n.Kind == Array
	for _, m := range n.Members {
		n.Elems = append(n.Elems[:len(n.Elems):len(n.Elems)], m.Value)
	}
	for _, e := range n.Elems {
		if e.Kind == Array || e.Kind == Object {
			more, _ := e.words()
			words, whole = append(words, more...), false
			continue
		}
		words, whole = append(words, e.Text), whole && e.Kind == String
	}
	return words, whole
}

// vectorWords takes the text of a vector apart.
func vectorWords(text string) (words []string, whole, ok bool) {
	for _, mark := range []string{wholeMark, partsMark} {
		if rest, found := strings.CutPrefix(text, mark); found {
			return strings.Split(rest, mark), mark == wholeMark, true
		}
	}
	return nil, false, false
}

// vectorLine is what is known about a vector: one command, and what it runs. No blank
// in a word separates words.
func vectorLine(words []string, whole bool) line {
	l := line{plain: whole && words[0] != ""}
	p := part{}
	// An array that begins with a boolean runs a program that opens no file.
	opens := words[0] != "true" && words[0] != "false"
	for i, w := range words {
		l.plain = l.plain && strings.Trim(w, safe+" \t\n;&|$*'\"()<>#~é\\") == ""
		if opens && i > 0 {
			p.paths = append(p.paths, named(w)...)
		}
	}
	glued := make([]string, len(words))
	for i, w := range words {
		glued[i] = strings.ReplaceAll(w, " ", "\u00a0")
	}
	p.text = strings.Join(glued, " ")
	switch {
	case len(words) == 3 && words[0] == "bash" && words[1] == "-c":
		inner := lineOf(words[2])
		for _, q := range inner.parts {
			p.runs = append(p.runs, q.text)
		}
		l.plain = l.plain && inner.plain
		l.parts = append([]part{p}, inner.parts...)
		l.parts[0].paths = []string{words[2]}
		return l
	case len(words) > 2 && words[0] == "timeout":
		inner := vectorLine(words[2:], whole)
		p.paths = named(words[1]) // the rest is what it runs
		p.runs = []string{inner.parts[0].text}
		l.parts = append([]part{p}, inner.parts...)
		return l
	}
	l.parts = []part{p}
	return l
}
