package install

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/jsonstream"
)

// fill adds the entries to a plan that the form of the host's settings requires.
func (p *Plan) fill(s *hook.Settings, c Command) {
	switch s.Form {
	case hook.Nested, hook.Flat:
		p.version = s.Version
		for _, e := range s.Events {
			name, matcher, matches := strings.Cut(e, " ")
			p.entries = append(p.entries, entry{[]string{"hooks", name}, p.entry(s, matcher, matches)})
		}
	case hook.Scripts:
		p.scripts(s, c)
	case hook.Extension:
		p.extension(s, c)
	}
}

// entry returns the element of an event's list.
func (p *Plan) entry(s *hook.Settings, matcher string, matches bool) string {
	if s.Form == hook.Flat {
		return `{"command": ` + str(p.Line) + ", " + s.Members + "}"
	}
	text := "{"
	if matches {
		text += `"matcher": ` + str(matcher) + ", "
	}
	return text + `"hooks": [{"type": "command", "command": ` + str(p.Line) + ", " + s.Members + "}]}"
}

func str(text string) string { return string(jsonstream.AppendQuote(nil, text)) }

// mark is in every file that belongs to stopgate.
const mark = "written by stopgate install"

// scripts makes the plan one file for each event. A call without an answer of stopgate is denied.
func (p *Plan) scripts(s *hook.Settings, c Command) {
	words, _, _ := strings.Cut(p.Line, " || {")
	file := func(q *Plan, otherwise string) {
		q.Line, q.Mode = words, 0o755
		if !c.observes() {
			q.Line += ` || printf '%s\n' '` + otherwise + `'`
		}
		q.Content = []byte("#!/bin/sh\n# " + mark + " " + p.Host + "\n" + q.Line + "\n")
	}
	file(p, s.Denies)
	for _, event := range s.Events[1:] {
		q := &Plan{Host: p.Host, File: filepath.Join(filepath.Dir(p.File), event)}
		file(q, s.Permits)
		p.Also = append(p.Also, q)
	}
}

// extension makes the plan a JavaScript module.
func (p *Plan) extension(s *hook.Settings, c Command) {
	words := c.words(p.Host, Deadline)[1:]
	for i, w := range words {
		words[i] = str(w)
	}
	r := strings.NewReplacer("PROGRAM", str(c.Program), "ARGUMENTS", "["+strings.Join(words, ", ")+"]", "BLOCK", strconv.FormatBool(!c.observes()),
		"TIMEOUT", strconv.FormatInt(Timeout.Milliseconds(), 10))
	p.Content = []byte("// " + mark + " " + p.Host + "\n" + r.Replace(s.Script()))
}
