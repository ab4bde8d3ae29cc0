package ports

import (
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Reading is a policy that reads texts, and otherwise decides as Policy. It records the view of
// every evaluation.
type Reading struct {
	gate.Policy
	Texts   *Texts
	Version string // its hash
	Keep    bool   // store the texts

	mu    sync.Mutex
	views []string
}

// Hash returns the version.
func (p *Reading) Hash() string { return p.Version }

// Reader returns the reader.
func (p *Reading) Reader() flow.Reader { return p.Texts }

// LooksAtTexts returns true.
func (p *Reading) LooksAtTexts() bool { return true }

// Gate returns the settings of the policy.
func (p *Reading) Gate() gate.Settings {
	s := p.Policy.Gate()
	s.KeepTexts = p.Keep
	return s
}

// SituationOf returns a situation for every state of the texts.
func (p *Reading) SituationOf(_ stopgate.Groups, _ jsonstream.Value, texts flow.View) gate.Situation {
	return gate.Situation(entries(texts))
}

// RulesFor returns the rules of the policy.
func (p *Reading) RulesFor(call stopgate.Call, c gate.Circumstances) gate.Rules {
	return readingRules{p.Policy.RulesFor(call, gate.Circumstances{Governed: c.Governed}), p}
}

// Last returns the texts of the last evaluation in their order, "-" if they were unknown.
func (p *Reading) Last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.views) == 0 {
		return ""
	}
	return p.views[len(p.views)-1]
}

type readingRules struct {
	gate.Rules
	policy *Reading
}

func (r readingRules) Evaluate(texts flow.View) gate.Evaluation {
	r.policy.mu.Lock()
	r.policy.views = append(r.policy.views[max(0, len(r.policy.views)-8):], entries(texts))
	r.policy.mu.Unlock()
	return r.Rules.Evaluate(texts)
}

func entries(texts flow.View) string {
	if texts == nil {
		return "-"
	}
	return strings.ReplaceAll(texts.(*TextIndex).Entries(), "\n", ", ")
}
