package jsonstream

import (
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
)

// maxFragmentCalls is the number of calls that a [FragmentMux] has open at once.
const maxFragmentCalls = 1024

// FragmentMux turns the argument chunks of the calls of one response, which arrive
// interleaved, into one sequence of fragments; at most 1,024 calls are open at once. Each fragment has the index of its call; the
// fragments of one call are in order. An error ends its call only.
type FragmentMux struct {
	Options Options
	// Emit receives the fragments in order. If it returns stop, the rest of that call is
	// discarded.
	Emit func(f *Fragment) (stop bool)

	calls map[int]*muxCall
}

// muxCall is an open call. A call that has ended has no parser.
type muxCall struct {
	writer FragmentWriter
	parser *Parser
	err    error
}

// Open begins a call.
func (m *FragmentMux) Open(index int, call stopgate.CallID, tool stopgate.ToolName) error {
	if index < 0 || m.calls[index] != nil {
		return fmt.Errorf("open call %d: negative index, or the call is open: close it first", index)
	}
	if len(m.calls) >= maxFragmentCalls {
		return fmt.Errorf("open call %d: %d calls are open: close one first", index, len(m.calls))
	}
	c := &muxCall{writer: FragmentWriter{Index: index, Call: call, Tool: tool, Emit: m.Emit}}
	c.parser = NewParser(&c.writer, m.Options)
	if m.calls == nil {
		m.calls = make(map[int]*muxCall)
	}
	m.calls[index] = c
	return nil
}

// Feed parses the next chunk of a call's arguments.
func (m *FragmentMux) Feed(index int, chunk []byte) error {
	c := m.calls[index]
	if c == nil {
		return fmt.Errorf("feed call %d: not open", index)
	}
	return c.step(m, func(p *Parser) error {
		if err := p.Feed(chunk); err != nil {
			return err
		}
		if c.writer.Flush() {
			c.parser = nil
		}
		return nil
	})
}

// Close ends the arguments of a call. The call's error is the one that Feed returned, if any.
func (m *FragmentMux) Close(index int) error {
	c := m.calls[index]
	if c == nil {
		return fmt.Errorf("close call %d: not open", index)
	}
	delete(m.calls, index)
	return c.step(m, (*Parser).Close)
}

// Discard ignores all further chunks of a call, as after its decline (D26-21). Close still
// ends it.
func (m *FragmentMux) Discard(index int) {
	if c := m.calls[index]; c != nil {
		c.parser = nil
	}
}

// step runs one step of the call's parser. An error becomes the call's last fragment.
func (c *muxCall) step(m *FragmentMux, run func(*Parser) error) error {
	if c.parser == nil {
		return c.err
	}
	if err := run(c.parser); err != nil {
		c.err, c.parser = err, nil
		var refused *Error
		if errors.As(err, &refused) && m.Emit != nil {
			m.Emit(&Fragment{Index: c.writer.Index, Call: c.writer.Call, Tool: c.writer.Tool, Kind: Invalid, Err: refused})
		}
	}
	return c.err
}
