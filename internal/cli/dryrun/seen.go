package dryrun

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/policy"
)

// Seen are the texts that the next call is evaluated with; nil if they are not known.
type Seen struct{ Texts flow.View }

// NewSeeing is NewDecider for calls whose texts are given.
func NewSeeing(l inputs.Loaded, s *Seen, more ...gate.Option) (Decider, error) {
	return deciderOf(Seeing(l.Program, s), l.Program, more)
}

// Seeing returns a policy that evaluates every call with the texts of s, whatever the gate knows of
// its session.
func Seeing(program *policy.Program, s *Seen) gate.Policy { return seeing{program, s} }

type seeing struct {
	*policy.Program
	seen *Seen
}

// Reader returns a reader whose indexes have the given texts.
func (p seeing) Reader() flow.Reader {
	if p.Program.Reader() == nil {
		return nil
	}
	return seenReader{p.seen}
}

// seenReader adds nothing: the texts are given.
type seenReader struct{ seen *Seen }

func (seenReader) Meaning() string                                   { return "seen" }
func (r seenReader) NewIndex([]byte) flow.Index                      { return seenIndex(r) }
func (seenReader) Knows(flow.Index, flow.Knowledge) []byte           { return nil }
func (seenReader) Message(flow.Index, *flow.Message) []byte          { return nil }
func (seenReader) Call(flow.Index, stopgate.ToolName, []byte) []byte { return nil }
func (seenReader) Result(flow.Index, *flow.Result) []byte            { return nil }

type seenIndex struct{ seen *Seen }

func (x seenIndex) View() flow.View         { return x.seen.Texts }
func (seenIndex) Size() (index, text int64) { return 0, 0 }
func (seenIndex) Restore([]byte) error      { return nil }
