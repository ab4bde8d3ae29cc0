package eval

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
)

// Layer is one policy file in an evaluation.
type Layer struct {
	File *syntax.File
	// Trusted is set for the operator's files; others may only tighten (S3, K35).
	Trusted bool
	// Embedded is set if the file is part of the program, and not written for these tools.
	Embedded bool
	// Env has the directories that the file's paths are resolved against.
	Env condition.Env
	// Protected is the list of protected targets (K2). New sets it.
	Protected condition.Protected
}

// Policies are policy files that are evaluated together. Every file is a layer that is evaluated
// separately; the strictest verdict wins (K35). A layer without a table for a tool abstains, and a
// tool for which every layer abstains is unknown (S2). Policies are immutable and safe for
// concurrent use; the zero value denies every call.
type Policies struct {
	layers []*Layer
	table  *condition.Table // of their conditions; without one every call is denied
	// unknownTool is the mode of unknown tools if no operator sets it.
	unknownTool stopgate.Mode
	known       KnownTools
	servers     map[stopgate.ServerID]stopgate.ServerID // see serverNames
	tests       []dataTest                              // conditions of rules on the session's data, by key
	says        []string                                // keys of the conditions of rules on the words of the person
	flows       []*Flow
	groups      []groupTest // conditions of rules on groups, by key
	// looksAtGroups is set if a condition on groups is in the situation of a call.
	looksAtGroups bool
	last          atomic.Pointer[Situation] // the situation of the latest call; most calls have the same
}

// New returns the policies of files, which were parsed with one table of conditions and must not be
// changed afterwards: the operator's before the project's. Calls of an unknown tool are asked about if unknownTool is Ask and no operator
// sets otherwise; every value but Ask is Deny (S33).
func New(layers []*Layer, unknownTool stopgate.Mode) *Policies {
	p := &Policies{layers: layers}
	for _, l := range layers {
		if p.table = l.File.Conditions; p.table == nil {
			break // its conditions have no definitions
		}
	}
	if unknownTool == stopgate.Ask {
		p.unknownTool = stopgate.Ask
	}
	p.scope()
	p.protect()
	p.situations()
	p.readTexts()
	p.readGroups()
	return p
}

// scope names the sources of each file, and those that are trusted. Sources of a file that is not
// trusted are its own. A name that several of the operator's files declare is trusted if all of
// them say so, and their trusted sources are those of the other files, too.
func (p *Policies) scope() {
	trusted := make(map[flow.Source]bool)
	declare := func(l *Layer, known map[flow.Source]bool) {
		for _, s := range l.File.Sources {
			name := l.Env.Source(s.Name)
			was, again := known[name]
			known[name] = s.Trusted && (was || !again)
		}
	}
	for i, l := range p.layers {
		l.Env.Scope, l.Env.Trusted = "", ""
		if l.Trusted {
			declare(l, trusted)
		} else {
			l.Env.Scope = "@" + strconv.Itoa(i)
		}
	}
	for _, l := range p.layers {
		known := maps.Clone(trusted)
		if !l.Trusted {
			declare(l, known)
		}
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if known[name] {
				l.Env.Trusted += string(name) + "\n"
			}
		}
	}
}

// protect builds the lists of protected targets, one for all files with the same directories.
func (p *Policies) protect() {
	if p.table == nil {
		return
	}
	var files []string
	for _, l := range p.layers {
		files = append(files, l.File.Name)
	}
	lists := make(map[condition.Env]condition.Protected)
	for _, l := range p.layers {
		env := l.Env
		env.Scope, env.Trusted = "", ""
		if lists[env] == nil {
			lists[env] = p.table.Protect(env, files...)
		}
		l.Protected = lists[env]
	}
}

// situations compiles the conditions of all files on sessions, each once for each polarity.
func (p *Policies) situations() {
	known := make(map[string]bool)
	for _, l := range p.layers {
		for r := range l.File.Rules() {
			w := r.When
			if w == nil || w.Session == nil || known[w.SessionKey] {
				continue
			}
			known[w.SessionKey] = true
			// Parse has rejected conditions that do not compile; without a test the condition stays
			// unknown.
			if t, err := NewDataTest(*w.Session, !r.Mode.Permissive(), l.Env); err == nil {
				p.tests = append(p.tests, dataTest{key: w.SessionKey, permissive: r.Mode.Permissive(), test: t})
			}
		}
	}
	slices.SortFunc(p.tests, func(a, b dataTest) int { return strings.Compare(a.key, b.key) })
}

// Layers returns the files. The caller must not change them.
func (p *Policies) Layers() []*Layer { return p.layers }

// Gates returns the [gate] tables of operators.
func (p *Policies) Gates() []*syntax.GateSettings {
	var all []*syntax.GateSettings
	for _, l := range p.layers {
		if l.Trusted && l.File.Gate.Present() {
			all = append(all, &l.File.Gate)
		}
	}
	return all
}

// LooksAtSessions reports whether a rule has a condition on the data of sessions.
func (p *Policies) LooksAtSessions() bool { return len(p.tests) > 0 }

// Situation evaluates the groups of a principal and a session's data and texts. A session without
// data has the empty object; data that are not an object are unknown, as are texts that are nil.
func (p *Policies) Situation(groups stopgate.Groups, data jsonstream.Value, texts flow.View) Situation {
	var buf [512]byte
	settled := p.groupSituation(buf[:0], groups)
	settled = p.readSituation(p.dataSituation(settled, data), groups, data, texts)
	if len(settled) == 0 {
		return Situation{}
	}
	if last := p.last.Load(); last != nil && last.settled == string(settled) {
		return *last
	}
	s := Situation{string(settled)}
	p.last.Store(&s)
	return s
}

// dataSituation appends the keys of the conditions on data that differ from unknown ones.
func (p *Policies) dataSituation(settled []byte, data jsonstream.Value) []byte {
	if data.Kind() != jsonstream.Object {
		return settled
	}
	for _, t := range p.tests {
		if holds, known := t.test.Holds(data); known && holds == t.permissive {
			settled = append(append(settled, t.key...), ' ')
		}
	}
	return settled
}
