package gate

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// watch looks for the arguments by which session policies can deny a call before it
// is complete (S8). It reads the bytes beside the evaluation, and no
// further than the last of them.
type watch struct {
	parser   *jsonstream.Parser
	pointers []jsonstream.Pointer
	depth    int
	key      string
	text     []byte // of the value that is arriving
	inside   bool

	found jsonstream.Pointer // the pointer whose value has just become complete
	value []byte             // as JSON
	at    int64
}

// newWatch returns nil where nothing can be known early.
func newWatch(set *session.Set, tool stopgate.ToolName) *watch {
	pointers := set.Watched(tool)
	if len(pointers) == 0 {
		return nil
	}
	w := &watch{pointers: pointers}
	w.parser = jsonstream.NewParser(w, jsonstream.Options{ObjectRoot: true})
	return w
}

// Event follows the members of the root.
func (w *watch) Event(e *jsonstream.Event) bool {
	switch e.Kind {
	case jsonstream.ObjectStart, jsonstream.ArrayStart:
		w.depth++
	case jsonstream.ObjectEnd, jsonstream.ArrayEnd:
		w.depth--
	case jsonstream.Key:
		if w.depth == 1 {
			w.key = string(e.Text)
		}
	case jsonstream.StringStart:
		w.text, w.inside = w.text[:0], w.depth == 1 && w.wanted() >= 0
	case jsonstream.StringPart:
		if w.inside && len(w.text) <= maxKeyText {
			w.text = append(w.text, e.Text...)
		}
	case jsonstream.StringEnd:
		if w.inside && len(w.text) <= maxKeyText {
			w.complete(jsonstream.AppendQuote(nil, w.text), e.Offset)
		}
		w.inside = false
	}
	return w.found != nil
}

func (w *watch) wanted() int {
	return slices.IndexFunc(w.pointers, func(p jsonstream.Pointer) bool { return p[0] == w.key })
}

// complete stops the parser: one value is enough to deny, and what comes later is
// looked at when the call is complete.
func (w *watch) complete(value []byte, at int64) {
	w.found, w.value, w.at = w.pointers[w.wanted()], value, at
}

// see reads a chunk that begins behind `before` bytes, and returns how many of its
// bytes lead up to the value that was found, -1 if none was.
func (w *watch) see(chunk []byte, before int64) int {
	if err := w.parser.Feed(chunk); err != nil || w.found == nil {
		return -1
	}
	return int(w.at - before)
}

// asSeen asks the policies that can judge by the value that was found; p.mu is held,
// and let go while a store is waited for.
func (p *pending) asSeen(w *watch) {
	object := append(append(jsonstream.AppendQuote([]byte("{"), w.found[0]), ':'), w.value...)
	args, err := jsonstream.Parse(append(object, '}'), jsonstream.Options{})
	if err != nil {
		return
	}
	set := p.set.Seen(p.tool, w.found)
	c := session.Call{Proposal: p.id, Tool: p.tool, Agent: p.call.Agent, Turn: p.call.Turn, ID: p.call.ID, Args: args, Paths: p.isPath}
	ctx := context.Background() // bounded by the limit of the store
	look := func() ([]session.Decision, uint64) {
		state := p.g.load(ctx, owner(&p.call), set.Needs(c))
		if state.fault != none {
			return nil, 0 // asked again, and denied, when the call is complete
		}
		v := p.sees(state.value)
		_, all := set.CheckEach(&v, &c, p.run(ctx))
		return all, state.value.Head
	}
	var all []session.Decision
	var head uint64
	if p.g.local {
		all, head = look()
	} else {
		p.mu.Unlock()
		all, head = look()
		p.mu.Lock()
	}
	if !p.premature(all) {
		p.objectLocked(all, head)
	}
}
