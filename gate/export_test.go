package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/gate/recent"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Step is a verdict that a scripted policy reaches: after At argument bytes, or
// when the arguments are accepted if At is AtEnd.
type Step struct {
	At int64
	stopgate.Verdict
}

// AtEnd is a Step.At behind every byte.
const AtEnd = int64(1) << 60

// Script is a policy that says the same about every call of a tool. It stands in
// for package policy, so that the gate is tested by itself: verdicts, orders and
// faults that no real policy would give are possible.
type Script struct {
	Steps   []Step
	Result  stopgate.Verdict
	Panic   string // the method that panics: Bind, Feed, Close, Trace, Document, Args, ResultMode
	Cause   string
	Cleaned string // other bytes to run than those that were judged
}

// ScriptedPolicy is a policy file of scripts by tool name; a tool without one is
// unknown.
type ScriptedPolicy struct {
	Hash    string
	Observe bool
	Mode    DenyMode
	Tools   map[stopgate.ToolName]Script
	Binds   func() // called for every binding that is made
}

// Limits that no machine reaches, however busy it is: a test that is about one says so
// with WithLimits, and runs under the clock of testing/synctest.
func init() {
	ProductLimits = defaultLimits
	defaultLimits = Limits{
		Policy: time.Hour, Store: time.Hour, Judge: time.Hour, Record: time.Hour, Abilities: time.Hour, Hold: defaultLimits.Hold, Approval: defaultLimits.Approval,
	}
}

// ProductLimits are the defaults outside of these tests.
var ProductLimits Limits

var _ Policy = policyOf{}

// policyOf is a ScriptedPolicy as a gate uses it.
type policyOf struct{ *ScriptedPolicy }

func (s policyOf) Hash() string { return s.ScriptedPolicy.Hash }

func (s policyOf) Gate() Settings {
	set := Settings{Observe: s.Observe, DenyMode: s.Mode}
	if set.DenyMode == DenyByPolicy {
		set.DenyMode = DenyToolResult
	}
	return set
}

func (s policyOf) RulesFor(call stopgate.Call, _ Circumstances) Rules {
	if s.Binds != nil {
		s.Binds()
	}
	script, ok := s.Tools[call.Tool]
	if !ok {
		script.Steps = []Step{{Verdict: stopgate.Verdict{
			Decided: true, Layer: stopgate.LayerIntegrity, Code: stopgate.CodePolicyNotConfigured,
		}}}
	}
	if script.Panic == "Bind" {
		panic("scripted")
	}
	return &scripted{script}
}

func (policyOf) LooksAtSessions() bool                                              { return false }
func (policyOf) LooksAtTexts() bool                                                 { return false }
func (policyOf) LooksAtGroups() bool                                                { return false }
func (policyOf) SituationOf(stopgate.Groups, jsonstream.Value, flow.View) Situation { return "" }
func (policyOf) Reader() flow.Reader                                                { return nil }
func (policyOf) ToolNames() map[stopgate.ToolName]stopgate.ToolName                 { return nil }
func (policyOf) KnownTools() ([]stopgate.ToolName, bool)                            { return nil, false }
func (policyOf) HandoffRules() [][]HandoffRule                                      { return nil }
func (policyOf) JudgeTables() []*JudgeTable                                         { return nil }
func (policyOf) ExternalTables() []*ExternalTable                                   { return nil }
func (policyOf) Sessions() (*session.Registry, error)                               { return session.NewRegistry(), nil }
func (policyOf) SessionHash() string                                                { return "" }
func (policyOf) ResultStatus(stopgate.ToolName) func([]byte) bool                   { return nil }
func (policyOf) LooksAtResults() bool                                               { return false }

// NewScripted is New for a scripted policy.
func NewScripted(s *ScriptedPolicy, opts ...Option) (*Gate, error) { return New(policyOf{s}, opts...) }

// SwapScripted is Swap for a scripted policy.
func (g *Gate) SwapScripted(s *ScriptedPolicy) {
	if err := g.Swap(policyOf{s}); err != nil {
		panic(err)
	}
}

// Generation is the size of the gate's bounded memories.
const Generation = recent.Generation

type scripted struct{ Script }

func (s *scripted) Evaluate(flow.View) Evaluation {
	e := &performance{script: s.Script}
	e.reach(0)
	return e
}

func (s *scripted) IsPath(jsonstream.Pointer) bool { return false }

func (s *scripted) KnownServer() stopgate.ServerID { return "" }

func (s *scripted) Unknown() (stopgate.Mode, bool) { return stopgate.Deny, false }

func (s *scripted) Access() *stopgate.Access { return nil }

func (s *scripted) ResultMode(*jsonstream.Document, flow.View) stopgate.Verdict {
	if s.Panic == "ResultMode" {
		panic("scripted")
	}
	if s.Result.Decided || s.Result.Mode.Permissive() {
		return s.Result
	}
	return stopgate.Verdict{Decided: true, Mode: stopgate.Unattended, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched}
}

// performance is one call under a script.
type performance struct {
	script Script
	text   []byte
	trace  []stopgate.Verdict
	next   int
	doc    jsonstream.Document
	closed bool
}

func (e *performance) fault(method string) {
	if e.script.Panic == method {
		panic("scripted")
	}
}

// reach publishes the steps up to a number of bytes; at the end those that the
// arguments were too short for are left out.
func (e *performance) reach(at int64) {
	for ; e.next < len(e.script.Steps) && e.script.Steps[e.next].At <= at && !e.Verdict().Terminal(); e.next++ {
		step := e.script.Steps[e.next]
		if received := int64(len(e.text)); step.At > received && step.At != AtEnd {
			continue
		} else {
			step.DecidedAt = min(step.At, received)
		}
		e.trace = append(e.trace, step.Verdict)
	}
}

func (e *performance) refuse(code stopgate.Code) {
	e.trace = append(e.trace, stopgate.Verdict{
		Decided: true, Layer: stopgate.LayerIntegrity, Code: code, DecidedAt: int64(len(e.text)), Public: code.Public(),
	})
}

func (e *performance) Feed(chunk []byte) stopgate.Verdict {
	e.fault("Feed")
	if !e.closed && !e.Verdict().Terminal() {
		e.text = append(e.text, chunk...)
		e.reach(int64(len(e.text)))
	}
	return e.Verdict()
}

func (e *performance) Close(end stopgate.End) stopgate.Verdict {
	e.fault("Close")
	if e.closed || e.Verdict().Terminal() {
		return e.Verdict()
	}
	e.closed = true
	switch end {
	case stopgate.Ended:
		if err := e.doc.Scan(e.text, jsonstream.Options{ObjectRoot: true}); err != nil {
			e.refuse(stopgate.CodeMalformedArguments)
			break
		}
		e.reach(AtEnd)
	case stopgate.Cancelled:
		e.refuse(stopgate.CodeCancelled)
	default:
		e.refuse(stopgate.CodeStreamTruncated)
	}
	return e.Verdict()
}

func (e *performance) Latest() *stopgate.Verdict { v := e.Verdict(); return &v }

func (e *performance) Verdict() stopgate.Verdict {
	if len(e.trace) == 0 {
		return stopgate.Verdict{}
	}
	return e.trace[len(e.trace)-1]
}

func (e *performance) Trace() []stopgate.Verdict {
	e.fault("Trace")
	return e.trace
}

func (e *performance) Cause() string { return e.script.Cause }

func (e *performance) Instead() string { return "" }

func (e *performance) Watch([]jsonstream.Pointer) {}

func (e *performance) Watched() (jsonstream.Pointer, []byte, bool) { return nil, nil, false }

func (e *performance) Leaves() []Leaf { return nil }

func (e *performance) Origins() []stopgate.Origin { return nil }

func (e *performance) Asking() []string { return nil }

func (e *performance) Release() {}

func (e *performance) Document() *jsonstream.Document {
	e.fault("Document")
	return &e.doc
}

func (e *performance) Args() []byte {
	e.fault("Args")
	if e.script.Cleaned != "" {
		return []byte(e.script.Cleaned)
	}
	return e.text
}

// HexHash is the SHA-256 of a text in hex.
func HexHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// StoreOf is the store of a gate.
func StoreOf(g *Gate) Store { return g.store }

// AwaitAnswer waits until the open question is answered.
func (p *pending) AwaitAnswer() {
	p.mu.Lock()
	q := p.approval.prompt
	p.mu.Unlock()
	<-q.ended
}
