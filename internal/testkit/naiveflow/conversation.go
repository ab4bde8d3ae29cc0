package naiveflow

import (
	"regexp"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
)

// Policy is what a policy declares about the texts of sessions.
type Policy struct {
	Sources []Source // those that others lean on before them
	Own     []string
	Last    bool            // only the last message of the person counts as theirs
	Effects map[string]bool // the tools that are stated to have an effect
	Tables  map[string]bool // the tools with a table
	Says    []Says
}

// Source is a declared source.
type Source struct {
	Name         string
	Trusted      bool
	Tools        []string // a star at the end of a name is any rest
	Asked, Where []Need
	Items, Field []string // pointers
	Keys         bool
	Label        string
	Text         bool // results are plain texts
}

// Need is a condition of a source.
type Need struct {
	Pointer  []string
	Const    string // the text of a string; "" if it is From or Pattern
	Pattern  string // that a text of the value matches
	From     []string
	Label    string
	As       string
	Relation flow.Relation
}

// Says is a condition on the words of the person.
type Says struct {
	Pattern  string
	Anywhere bool
}

// Event is something that happened in a session.
type Event struct {
	// Kind is "user", "system", "answer", "other" for a text of another author, "call" or "result".
	Kind, Text, Tool, Args, Call string
	Released, Failed, Opaque     bool
}

// View is the texts of a session. The answers that the definition leaves open are guessed.
type View struct {
	Policy *Policy
	Events []Event
	Knows  flow.Knowledge
	Guess  func(question string) bool

	pieces []*piece
	person int // the event of the person's latest message
	words  []string
}

// piece is a text with one author.
type piece struct {
	event           int
	text            string
	sources, may    []string // those that it has, and may have
	result, hidden  bool
	opaque, earlier bool // earlier: before the person's latest message
	echo            []string
}

// Begin reads the events.
func (v *View) Begin() *View {
	v.person = -1
	for i := range v.Events {
		e := &v.Events[i]
		if slices.ContainsFunc(v.Events[:i], func(o Event) bool { return o == *e }) {
			continue // nothing new
		}
		switch e.Kind {
		case "result":
			v.result(i, e)
		case "call":
		default:
			v.message(i, e)
		}
	}
	return v
}

func (v *View) is(a Answer, question ...string) bool {
	return a == Yes || a == Either && v.Guess(strings.Join(question, "\x00"))
}

// message reads a message: the words of its author, and what clients and models put into it.
func (v *View) message(i int, e *Event) {
	source := e.Kind
	if source == "answer" {
		source = "user"
	}
	words, rest, repeats := []string{e.Text}, []string(nil), false
	switch source {
	case "other":
		words, rest = nil, []string{e.Text}
	case "user":
		words, rest, repeats = v.apart(i, e.Text)
	}
	var person []string
	author := []string{source}
	for _, w := range words {
		seen, hidden := visible(w)
		v.add(&piece{event: i, text: seen, sources: author})
		v.addHidden(i, hidden, author)
		person = append(person, seen)
	}
	if source == "other" {
		author = nil
	}
	for _, w := range rest {
		seen, hidden := visible(w)
		v.add(&piece{event: i, text: seen, sources: []string{"tool"}, may: author, result: true})
		v.addHidden(i, hidden, author)
	}
	said := strings.TrimSpace(strings.Join(person, "\n"))
	if e.Kind != "user" || said == "" && !repeats {
		return
	}
	for _, p := range v.pieces {
		p.earlier = p.earlier || p.event < i
	}
	if v.words = append(v.words, said); said != "" {
		v.person = i
	}
}

func (v *View) add(p *piece) {
	if strings.TrimSpace(p.text) != "" || p.opaque {
		v.pieces = append(v.pieces, p)
	}
}

func (v *View) addHidden(i int, texts, author []string) {
	for _, t := range texts {
		v.add(&piece{event: i, text: t, sources: []string{"tool", "hidden"}, may: author, result: true, hidden: true})
	}
}

// block is what a client adds to a message.
var block = regexp.MustCompile(`(?s)<system-reminder>.*</system-reminder>`)

// apart divides a message into the words of the person and the others: blocks of the client, a prompt
// that a model wrote as an argument, and lines that a result or an argument had before, which repeats reports.
func (v *View) apart(i int, text string) (words, rest []string, repeats bool) {
	rest = block.FindAllString(text, -1)
	for _, part := range block.Split(text, -1) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		if l := joined(part); len(l) >= 3 && v.wroteBefore(i, func(e *Event) bool { return slices.Contains(argumentsOf(e), l) }) {
			rest = append(rest, part)
			continue
		}
		own := ""
		for line := range strings.Lines(part) {
			if l := joined(line); recognisable(l) && v.wroteBefore(i, func(e *Event) bool { return slices.Contains(linesOf(e), l) }) {
				rest, repeats = append(rest, line), true
				words, own = append(words, own), ""
			} else {
				own += line
			}
		}
		words = append(words, own)
	}
	return slices.DeleteFunc(words, func(w string) bool { return strings.TrimSpace(w) == "" }), rest, repeats
}

// wroteBefore reports whether one of the earlier calls and results fits that no message of the person
// precedes.
func (v *View) wroteBefore(i int, fits func(e *Event) bool) bool {
	for k := range v.Events[:i] {
		e := &v.Events[k]
		if e.Kind == "user" && fits(&Event{Kind: "result", Text: e.Text}) {
			return false
		}
		if (e.Kind == "call" || e.Kind == "result") && fits(e) {
			return true
		}
	}
	return false
}

func joined(text string) string {
	return strings.Join(strings.Fields(strings.TrimLeft(text, "> \t|")), " ")
}

func recognisable(line string) bool { return len(line) >= 32 && strings.Count(line, " ") >= 5 }

// argumentsOf lists the strings of a call's arguments, each as one line; of another event its text.
func argumentsOf(e *Event) (all []string) {
	if e.Kind != "call" {
		if e.Tool == "" { // a message of the person
			all = append(all, joined(e.Text))
		}
		return all
	}
	found, _ := parse(e.Args).leaves()
	for _, n := range found {
		if n.kind == 's' {
			all = append(all, joined(n.text))
		}
	}
	return all
}

func linesOf(e *Event) (all []string) {
	texts := []string{e.Text}
	if e.Kind == "call" {
		texts = nil
		found, _ := parse(e.Args).leaves()
		for _, n := range found {
			texts = append(texts, n.text)
		}
	}
	for _, t := range texts {
		for line := range strings.Lines(t) {
			all = append(all, joined(line))
		}
	}
	return all
}

var (
	comment  = regexp.MustCompile(`(?s)<!--.*?-->|<span style="display:none">.*?</span>`)
	link     = regexp.MustCompile(`<a href="([^"]*)">`)
	brackets = regexp.MustCompile(`<[^>]*>|-->`)
)

// visible divides a page into the text that people see and the rest.
func visible(text string) (seen string, hidden []string) {
	if !strings.Contains(text, "<p>") {
		return text, nil
	}
	for _, c := range comment.FindAllString(text, -1) {
		c = strings.NewReplacer("<!--", "", "-->", "").Replace(c)
		hidden = append(hidden, strings.TrimSpace(brackets.ReplaceAllString(c, "")))
	}
	text = comment.ReplaceAllString(text, "\n")
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		text += "\n" + m[1]
	}
	return brackets.ReplaceAllString(text, "\n"), hidden
}

// Said reports whether words of the person match a pattern.
func (v *View) Said(s *Says) bool {
	words := v.words
	if !s.Anywhere && len(words) > 0 {
		words = words[len(words)-1:]
	}
	return slices.ContainsFunc(words, func(w string) bool { return match(s.Pattern, w) })
}
