package anthropic

import (
	"strings"
	"unicode"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// call is one held tool_use. Its argument text is with the gate; what stands
// here is the upstream's first event as a template.
type call struct {
	number     int // stopgate.Event.Call
	id         string
	name       string
	input      []byte // the input of the block itself, if it is not empty
	deltas     []byte // the text of the deltas, kept only to be compared with input
	fed        bool   // argument text was given to the sink
	over       bool   // CallRefused or CallEnded was emitted
	refused    bool
	vain       int64 // bytes of arguments behind the refusal
	programmed bool  // called by code at the provider (WIRE 4.7)
}

// calls tells the sink about the calls of one response.
type calls struct {
	req     *wire.Request
	sink    wire.Sink
	o       wire.Options
	list    []*call
	pending int
	held    int // bytes that the codec itself keeps
	end     stopgate.End
	notes   wire.Notes
	vain    int64          // see Vain
	event   stopgate.Event // reused: a sink sees it only during its call
	text    []byte         // reused for unescaped strings
}

func newCalls(r *wire.Request, sink wire.Sink, o wire.Options) calls {
	if r == nil {
		r = &wire.Request{}
	}
	return calls{req: r, sink: sink, o: o.WithDefaults()}
}

// Pending implements [wire.Stream].
func (c *calls) Pending() int { return c.pending }

// Notes implements [wire.Stream] and [wire.Body].
func (c *calls) Notes() wire.Notes { return c.notes }

// Vain implements [wire.Stream].
func (c *calls) Vain() int64 { return c.vain }

// kind is what a content block is to the gate (WIRE 4.4).
type kind uint8

const (
	nobody         kind = iota // text and the like
	client                     // a call
	unknownClient              // has a call's shape, but a type that is not known (L14)
	provider                   // what a tool at the provider says
	providerInput              // a call of a tool at the provider
	unknownContent             // has a type that is not known
)

// call reports whether a block is a call for the client.
func (k kind) call() bool { return k == client || k == unknownClient }

func kindOf(block jsonstream.Value) kind {
	typ, _ := block.Get("type")
	switch name := typ.Text(); name {
	case "tool_use":
		return client
	case "text", "thinking", "redacted_thinking", "container_upload", "compaction", "fallback":
		return nobody
	case "server_tool_use", "mcp_tool_use":
		return providerInput
	case "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result":
		return provider
	}
	_, name := block.Get("name")
	_, input := block.Get("input")
	if name && input || closeToCall(typ) {
		return unknownClient
	}
	return unknownContent
}

// closeToCall reports whether a type differs from that of a call in its case and in
// what is no letter only.
func closeToCall(typ jsonstream.Value) bool {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, typ.Text())
	return strings.EqualFold(letters, "tooluse")
}

// noteKind remembers what was forwarded without a judgement (L12).
func (c *calls) noteKind(k kind, block jsonstream.Value) {
	if k == provider || k == providerInput || k == unknownContent {
		typ, _ := block.Get("type")
		c.notes.Pass(typ.Text())
	}
}

// start announces the call of a block.
func (c *calls) start(block jsonstream.Value, kind kind) *call {
	id, _ := block.Get("id")
	name, _ := block.Get("name")
	k := &call{number: len(c.list), id: id.Text(), name: name.Text()}
	if caller, ok := block.Get("caller"); ok && wire.Present(caller) {
		typ, _ := caller.Get("type")
		k.programmed = !typ.IsText("direct")
	}
	c.list = append(c.list, k)
	c.pending++
	c.sink.Event(c.emit(k, stopgate.CallStarted))
	switch {
	case len(c.list) > c.o.MaxCalls:
		c.refuse(k, stopgate.CodeLimitExceeded)
	case c.refuseTwins(k), k.id == "", k.name == "":
		c.refuse(k, stopgate.CodeProtocolViolation)
	case kind != client, c.req.Refuses(stopgate.ToolName(k.name)):
		c.refuse(k, stopgate.CodePolicyNotConfigured)
	default:
		c.keepInput(k, block)
	}
	return k
}

// refuseTwins refuses the earlier calls with a call's id: a result could be meant
// for either of them.
func (c *calls) refuseTwins(k *call) (found bool) {
	for _, other := range c.list[:k.number] {
		if other.id == k.id {
			c.refuse(other, stopgate.CodeProtocolViolation)
			found = true
		}
	}
	return found
}

// keepInput remembers arguments that stand in the block itself. In a stream they
// are normally the empty object.
func (c *calls) keepInput(k *call, block jsonstream.Value) {
	input, ok := block.Get("input")
	switch {
	case !ok || !wire.Present(input):
	case input.Kind() == jsonstream.Object && input.Len() == 0:
	case c.hold(k, len(input.Raw())):
		k.input = append([]byte(nil), input.Raw()...)
	}
}

func (c *calls) emit(k *call, kind stopgate.EventKind) *stopgate.Event {
	c.event = stopgate.Event{Kind: kind, Call: k.number, ID: stopgate.CallID(k.id), Tool: stopgate.ToolName(k.name)}
	return &c.event
}

// refuse ends a call with a code of its own.
func (c *calls) refuse(k *call, code stopgate.Code) {
	if k.over {
		return
	}
	k.over, k.refused = true, true
	c.held -= len(k.input) + len(k.deltas)
	k.input, k.deltas = nil, nil
	e := c.emit(k, stopgate.CallRefused)
	e.Code = code
	c.sink.Event(e)
}

// refuseOpen ends every call that has not ended.
func (c *calls) refuseOpen(code stopgate.Code) {
	for _, k := range c.list {
		c.refuse(k, code)
	}
}

// hold counts bytes that a call keeps here; over the limit the call is refused.
func (c *calls) hold(k *call, n int) bool {
	if c.held+n > c.o.MaxHeld {
		c.refuse(k, stopgate.CodeLimitExceeded)
		return false
	}
	c.held += n
	return true
}

// feed takes the next piece of a call's argument text.
func (c *calls) feed(k *call, text []byte) {
	if k.refused {
		k.vain += int64(len(text))
		c.vain = max(c.vain, k.vain)
	}
	if k.over || len(text) == 0 {
		return
	}
	if k.input != nil && c.hold(k, len(text)) {
		k.deltas = append(k.deltas, text...)
	}
	if k.over {
		return
	}
	k.fed = true
	e := c.emit(k, stopgate.CallArguments)
	e.Args = text
	c.sink.Event(e)
}

// close ends the argument text of a call: what stands in the block is the
// argument if no delta followed, and must agree with the deltas if they did (L5).
func (c *calls) close(k *call) {
	switch {
	case k.over:
	case !k.fed && k.input != nil:
		input := k.input
		c.held -= len(input)
		k.input = nil
		c.feed(k, input)
	case !k.fed:
		c.feed(k, emptyObject)
	case k.input != nil && !agree(k.input, k.deltas):
		c.refuse(k, stopgate.CodeEnvelopeMismatch)
	}
}

var emptyObject = []byte("{}")

// agree reports whether two texts are one value. A text that is no value agrees
// with nothing.
func agree(a, b []byte) bool {
	left, err := jsonstream.Parse(a, wire.EnvelopeOptions(len(a)+1))
	if err != nil {
		return false
	}
	right, err := jsonstream.Parse(b, wire.EnvelopeOptions(len(b)+1))
	return err == nil && jsonstream.HashCanonical(left) == jsonstream.HashCanonical(right)
}

// finish ends every call at the end of the turn.
func (c *calls) finish(end stopgate.End) {
	c.end = end
	for _, k := range c.list {
		if k.over {
			continue
		}
		k.over = true
		e := c.emit(k, stopgate.CallEnded)
		e.End = end
		c.sink.Event(e)
	}
	c.event = stopgate.Event{Kind: stopgate.TurnEnded, End: end}
	c.sink.Event(&c.event)
}

// ending says what a stop reason means for held calls (WIRE 4.4).
func ending(reason jsonstream.Value) stopgate.End {
	if reason.IsText("tool_use") || reason.IsText("end_turn") || reason.IsText("pause_turn") {
		return stopgate.Ended
	}
	return stopgate.Truncated
}

// settle finds the outcome of every call: the arguments of those that may run, by
// number, and a line for each of the others. What is not plainly allowed is
// denied, and so is every call of a turn without a normal end (L6). stuck: one of
// the denied calls was made by code at the provider, which waits for its result
// (WIRE 4.7).
func (c *calls) settle(outcomes []wire.Release) (args [][]byte, lines []string, stuck bool) {
	args, texts := wire.Settle(len(c.list), outcomes, func(i int) bool { return !c.list[i].refused && c.end == stopgate.Ended })
	for i, k := range c.list {
		if args[i] == nil {
			lines = append(lines, texts[i])
			stuck = stuck || k.programmed
		}
	}
	c.pending = 0
	return args, lines, stuck
}
