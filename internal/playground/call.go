package playground

import (
	"context"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/trial"
)

// Call is a call and what came before it in its session.
type Call struct {
	Tool   string
	Args   []byte
	Before []byte // JSON Lines
}

// Trace is the movement of the verdict while the arguments of a call arrive one byte at a time.
type Trace struct {
	Bytes int    `json:"bytes"` // of the arguments
	Steps []Step `json:"steps"` // at least the first, before any byte
}

// Step is a verdict that is another than the one before.
type Step struct {
	// At is the number of bytes that had arrived.
	At int `json:"at"`
	// End reports that the arguments had ended there.
	End bool `json:"end,omitempty"`
	// Decided is false while the rules may still decide differently. Terminal reports that no later
	// byte changes the verdict.
	Decided  bool              `json:"decided"`
	Terminal bool              `json:"terminal,omitempty"`
	Mode     stopgate.Mode     `json:"mode"`
	Layer    stopgate.Layer    `json:"layer,omitempty"`
	Code     stopgate.Code     `json:"code,omitempty"`
	Rule     *stopgate.RuleRef `json:"rule,omitempty"`
	Pointer  string            `json:"pointer,omitempty"`
	Floors   []stopgate.Floor  `json:"floors,omitempty"`
}

// Moment is the state of a call after some bytes of its arguments.
type Moment struct {
	Bytes    int  `json:"bytes"` // that have arrived
	End      bool `json:"end"`   // no more arrive
	Decided  bool `json:"decided"`
	Terminal bool `json:"terminal"`
	// Answer is the answer of the command decide for these bytes.
	Answer trial.Answer `json:"answer"`
	// Lists are the rule lists and guards that apply, rule by rule.
	Lists []eval.ListExplanation `json:"lists"`
	// Recognised and NotKnown are those of [eval.Explanation].
	Recognised string            `json:"recognised,omitempty"`
	NotKnown   string            `json:"not_known,omitempty"`
	Objections []trial.Objection `json:"objections,omitempty"` // of session policies
}

// run is a call in progress.
type run struct {
	trial.Decider
	watched *watched
	call    stopgate.Call
	pending *gate.Pending
}

// open brings a new session to the state before a call, and opens it.
func (p *Policy) open(ctx context.Context, c Call) (*run, error) {
	switch {
	case len(c.Args) > MaxArgs:
		return nil, fmt.Errorf("the arguments have %d bytes, and the playground takes %d", len(c.Args), MaxArgs)
	case len(c.Tool) > MaxTool:
		return nil, fmt.Errorf("the name of the tool has %d bytes, and the playground takes %d", len(c.Tool), MaxTool)
	}
	before, err := parseBefore(c.Before)
	if err != nil {
		return nil, err
	}
	w := &watched{Program: p.program}
	j, err := trial.NewDecider(w, p.program, mem.New())
	if err != nil {
		return nil, err
	}
	if err := replay(ctx, j, before); err != nil {
		return nil, err
	}
	j.Objections() // to earlier calls
	r := &run{Decider: j, watched: w, call: callOf(c.Tool)}
	r.pending, err = j.Gate.Open(ctx, r.call)
	return r, err
}

// Trace returns every verdict on a call: before its arguments, after each of their bytes, and at
// their end.
func (p *Policy) Trace(ctx context.Context, c Call) (t Trace, err error) {
	r, err := p.open(ctx, c)
	if err != nil {
		return t, err
	}
	defer r.pending.Cancel(ctx)
	t.Bytes = len(c.Args)
	t.Steps = []Step{stepOf(r.pending.Feed(nil), 0, false)}
	add := func(s Step) {
		if !s.same(&t.Steps[len(t.Steps)-1]) {
			t.Steps = append(t.Steps, s)
		}
	}
	for i := range c.Args {
		add(stepOf(r.pending.Feed(c.Args[i:i+1]), i+1, false))
	}
	add(stepOf(r.pending.Close(stopgate.Ended), len(c.Args), true))
	return t, nil
}

func stepOf(v stopgate.Verdict, at int, end bool) Step {
	return Step{
		At: at, End: end, Decided: v.Decided, Terminal: v.Terminal(), Mode: v.Mode, Layer: v.Layer,
		Code: v.Code, Rule: v.Rule, Pointer: v.Pointer, Floors: v.Floors,
	}
}

// same reports whether a step adds nothing to the one before.
func (s *Step) same(last *Step) bool {
	return s.Decided == last.Decided && s.Mode == last.Mode && s.Layer == last.Layer && s.Code == last.Code &&
		s.Rule == last.Rule && s.Pointer == last.Pointer && slices.Equal(s.Floors, last.Floors)
}

// At returns the state of a call after its first n bytes; end reports that no more arrive.
func (p *Policy) At(ctx context.Context, c Call, n int, end bool) (m Moment, err error) {
	if n < 0 || n > len(c.Args) {
		return m, fmt.Errorf("there is no byte %d of %d", n, len(c.Args))
	}
	r, err := p.open(ctx, c)
	if err != nil {
		return m, err
	}
	v := r.pending.Feed(c.Args[:n])
	if end {
		v = r.pending.Close(stopgate.Ended)
	}
	x := r.watched.explain()
	r.pending.Cancel(ctx) // its row has the cause
	m = Moment{Bytes: n, End: end, Decided: v.Decided, Terminal: v.Terminal(), Lists: x.Lists, Recognised: x.Recognised, NotKnown: x.NotKnown}
	m.Answer = r.Answer(r.call, v, n).Explained(x)
	m.Objections = r.Objections()
	if m.Lists == nil {
		m.Lists = []eval.ListExplanation{}
	}
	return m, nil
}
