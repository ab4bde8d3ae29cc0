package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/flow/source"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Reader returns the reader of the texts of sessions, nil if no rule needs them.
func (p *Program) Reader() flow.Reader {
	if p.reader == nil {
		return nil
	}
	return p.reader
}

// LooksAtTexts reports whether the binding of a call depends on the texts of its session.
func (p *Program) LooksAtTexts() bool { return p.policies.LooksAtTexts() }

// KeepsText reports whether the texts of sessions themselves are stored, for replay: an operator's
// file says so, and none says that nothing is kept.
func (p *Program) KeepsText() bool {
	keeps := false
	for _, l := range p.Layers() {
		f := &l.File.Flow
		if f.Keep == "none" {
			return false
		}
		keeps = keeps || f.KeepText && l.Trusted
	}
	return keeps
}

// HasEffect reports whether a tool changes something or sends something out; see
// [eval.Policies.HasEffect].
func (p *Program) HasEffect(tool stopgate.ToolName) bool { return p.policies.HasEffect(tool) }

// Sources lists the sources of the files, as the reader names them.
func (p *Program) Sources() []source.File { return sourcesOf(p.Layers()) }

func sourcesOf(layers []*eval.Layer) (files []source.File) {
	for _, l := range layers {
		files = append(files, source.File{Sources: l.File.Sources, Scope: l.Env.Scope})
	}
	return files
}

// readTexts makes the reader of the texts that rules need.
func (p *Program) readTexts(known eval.KnownTools) {
	if !p.policies.NeedsTexts() {
		return
	}
	c := source.Config{Files: p.Sources(), EveryCall: p.KeepsText()}
	for _, l := range p.Layers() {
		f := &l.File.Flow
		c.Own = append(c.Own, f.Own...)
		if f.Budget > 0 && (c.Budget == 0 || f.Budget < c.Budget) {
			c.Budget = f.Budget
		}
		for r := range l.File.Rules() {
			if r.When != nil && r.When.Says != nil && !slices.ContainsFunc(c.Says, func(s *syntax.Says) bool { return s.Key == r.When.Says.Key }) {
				c.Says = append(c.Says, r.When.Says)
			}
		}
	}
	for _, l := range p.Layers() {
		for _, t := range l.File.Tools {
			effect := "unstated"
			if t.Effect != nil {
				effect = strconv.FormatBool(*t.Effect)
			}
			c.Tools = append(c.Tools, fmt.Sprintf("%t %s %q %s", l.Trusted, t.Name, t.Also, effect))
		}
	}
	slices.Sort(c.Tools)
	names := p.ToolNames()
	c.Tool = once(func(tool stopgate.ToolName) source.Facts {
		f := source.Facts{Name: names[tool], Effect: p.policies.StatesEffect(tool)}
		f.Declared = slices.ContainsFunc(p.Layers(), func(l *eval.Layer) bool {
			return l.Trusted && slices.ContainsFunc(l.File.Tools, func(t *syntax.ToolTable) bool { return t.Named(string(tool)) })
		})
		if !f.Declared && known != nil {
			_, f.Declared = known(stopgate.Call{Tool: tool})
		}
		return f
	})
	p.reader = source.New(c)
}

// Bounds of the tools whose facts are remembered: a caller chooses the names.
const (
	maxFacts    = 1024
	maxFactName = 256
)

// once remembers the answers of f, which depend on the name of the tool alone: every released call asks.
func once(f func(stopgate.ToolName) source.Facts) func(stopgate.ToolName) source.Facts {
	var mu sync.Mutex
	known := map[stopgate.ToolName]source.Facts{}
	return func(tool stopgate.ToolName) source.Facts {
		if len(tool) > maxFactName {
			return f(tool)
		}
		mu.Lock()
		facts, ok := known[tool]
		mu.Unlock()
		if ok {
			return facts
		}
		facts = f(tool)
		mu.Lock()
		defer mu.Unlock()
		if len(known) >= maxFacts {
			clear(known)
		}
		known[stopgate.ToolName(strings.Clone(string(tool)))] = facts // the name may be a part of a larger text
		return facts
	}
}
