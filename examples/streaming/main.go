// Command streaming decides tool calls while their arguments arrive, as JP's RFD D26 describes it:
// it shows what has come of a call, asks a person as soon as a rule asks, and stops the model when
// the only open call is refused. A script stands in for the model.
//
//	go run ./examples/streaming
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy"
)

const rules = `version = 1
[tools.fs_create_file.parameters]
path = { type = "path", required = true }
content = { type = "string" }
[tools.fs_create_file.policy]
run = [
  { arg = "/path", prefix = "src/", mode = "unattended" },
  { arg = "/path", prefix = ".env", mode = "skip" },
  { mode = "ask" },
]
`

// chunk is a piece of the arguments of one call of a response.
type chunk struct {
	call int
	text string
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	program, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(rules), Trusted: true}}, policy.Options{})
	if program == nil {
		return found.Err()
	}
	g, err := gate.New(program, gate.WithApprover(person{}), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return err
	}
	for _, r := range []struct {
		name   string
		chunks []chunk
	}{
		{"a free call", []chunk{{0, `{"path":"src/ma`}, {0, `in.rs","content":"fn main() {`}, {0, `}"}`}}},
		{"a declined call", []chunk{{0, `{"path":"README","content":"# T`}, {0, `itle"}`}}},
		{"a skipped call beside a free one", []chunk{{0, `{"path":".env`}, {1, `{"path":"src/lib.rs",`}, {0, `","content":"KEY=1`}, {1, `"content":""}`}, {0, `"}`}}},
	} {
		fmt.Fprintf(out, "# %s\n", r.name)
		if err := (&turn{gate: g, out: out}).response(ctx, r.chunks); err != nil {
			return err
		}
	}
	return nil
}

// turn is one response of a model.
type turn struct {
	gate  *gate.Gate
	out   io.Writer
	mux   jsonstream.FragmentMux
	calls map[int]*call
}

// call is one call of it.
type call struct {
	*gate.Pending
	screen *screen
	shown  stopgate.Mode
	closed bool
}

// response feeds the chunks to the gate, and stops the model when no call is open any more.
func (t *turn) response(ctx context.Context, chunks []chunk) error {
	t.calls = map[int]*call{}
	t.mux.Emit = func(f *jsonstream.Fragment) bool { return t.calls[f.Index].screen.add(f) != nil }
	for i, c := range chunks {
		if _, known := t.calls[c.call]; !known {
			if err := t.open(ctx, c.call); err != nil {
				return err
			}
		}
		if err := t.feed(ctx, c); err != nil {
			return err
		}
		if t.over() && i < len(chunks)-1 {
			fmt.Fprintln(t.out, "the model is stopped")
			break
		}
	}
	for index := range len(t.calls) {
		if err := t.end(ctx, index); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) open(ctx context.Context, index int) error {
	id := stopgate.CallID(fmt.Sprint("call_", index))
	p, err := t.gate.Open(ctx, stopgate.Call{ID: id, Tool: "fs_create_file", Session: "demo"})
	if err != nil {
		return err
	}
	t.calls[index] = &call{Pending: p, screen: &screen{known: map[string]string{}}}
	return t.mux.Open(index, id, "fs_create_file")
}

// feed passes a chunk to the gate. An ask is put to the person at once; a refusal ends the call.
func (t *turn) feed(ctx context.Context, c chunk) error {
	open := t.calls[c.call]
	if open.closed {
		return nil // the rest of a refused call is discarded
	}
	if err := t.mux.Feed(c.call, []byte(c.text)); err != nil {
		return err
	}
	v := open.Feed([]byte(c.text))
	if v.Decided && v.Mode == stopgate.Ask && open.shown != stopgate.Ask {
		fmt.Fprintf(t.out, "%d ask %s\n", c.call, open.screen)
		if err := open.Ask(ctx); err != nil && !errors.Is(err, gate.ErrNoAsk) {
			return err
		}
		<-open.Done() // this person says no at once; a program would go on reading
		v = open.Verdict()
	}
	if v.Decided && v.Mode != open.shown {
		fmt.Fprintf(t.out, "%d %v %s\n", c.call, v.Mode, open.screen)
		open.shown = v.Mode
	}
	if v.Terminal() {
		open.closed = true
		open.Close(stopgate.Cancelled)
		t.mux.Discard(c.call)
	}
	return nil
}

// over reports whether every call of the response is refused.
func (t *turn) over() bool {
	for _, c := range t.calls {
		if !c.closed {
			return false
		}
	}
	return true
}

// end closes a call and shows its outcome: an allowed call runs with the complete arguments.
func (t *turn) end(ctx context.Context, index int) error {
	c := t.calls[index]
	c.Close(stopgate.Ended)
	outcome, err := c.Resolve(ctx)
	if err != nil {
		return err
	}
	if outcome.Allowed() {
		fmt.Fprintf(t.out, "%d runs with %s\n", index, outcome.Args)
		return nil
	}
	e := outcome.Envelope()
	fmt.Fprintf(t.out, "%d %s: %s\n", index, e.Code, e.PublicReason)
	return nil
}

// screen is what has come of a call.
type screen struct {
	values    jsonstream.FragmentAggregator
	order     []string
	known     map[string]string
	streaming string
	bytes     int
}

func (s *screen) add(f *jsonstream.Fragment) error {
	value, err := s.values.Add(f)
	if err != nil || len(f.Path) == 0 {
		return err
	}
	name := f.Path[0].Key
	if f.Kind == jsonstream.End && len(f.Path) == 1 {
		s.order, s.known[name], s.streaming, s.bytes = append(s.order, name), string(value.Raw()), "", 0
		return nil
	}
	s.streaming, s.bytes = name, s.bytes+len(f.Text)
	return nil
}

func (s *screen) String() string {
	var parts []string
	for _, name := range s.order {
		parts = append(parts, name+": "+s.known[name])
	}
	if s.streaming != "" {
		parts = append(parts, fmt.Sprintf("streaming %q %d B", s.streaming, s.bytes))
	}
	return "fs_create_file(" + strings.Join(parts, ", ") + ")"
}

// person declines everything.
type person struct{}

func (person) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true}
}

func (person) Approve(_ context.Context, q *gate.Question) (gate.Answer, error) {
	v, _ := q.View()
	return v.Decline("anna"), nil
}
