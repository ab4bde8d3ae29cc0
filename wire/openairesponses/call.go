package openairesponses

import (
	"hash"
	"hash/maphash"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// call is one held call. Its argument text is with the gate; what stands here are
// the upstream's item events without it, and hashes for comparing its copies.
type call struct {
	number int // stopgate.Event.Call
	kind   kind
	index  int    // position in the response's output
	typ    string // of the item
	item   string // the item's id
	id     string // call_id
	name   string // as written
	space  string // namespace, as written
	tool   string // as judged

	added, done []byte // the item's events, without arguments

	copies
	parts map[int]*part
	said  []byte // the argument text, as far as saidBytes

	opened     bool // the object around free text was begun
	closed     bool // the item's last event was seen
	over       bool // CallRefused or CallEnded was emitted
	refused    bool
	vain       int64 // bytes of arguments behind the refusal
	programmed bool  // called by code at the provider
}

// saidBytes is how much of a call's argument text is kept for the history of a response
// that is cancelled.
const saidBytes = 4 << 10

// part is a piece of the arguments that is streamed ahead of them: a command of a
// shell_call, the diff of an apply_patch_call.
type part struct {
	joined hash.Hash
	bad    bool // the events about it contradict each other
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
	quoted  []byte         // reused for free text
	expected

	response string          // the id of the response, after Release
	replaced []wire.Replaced // its denied calls
}

func newCalls(r *wire.Request, sink wire.Sink, o wire.Options) calls {
	if r == nil {
		r = &wire.Request{}
	}
	return calls{req: r, sink: sink, o: o.WithDefaults(), expected: expected{seed: maphash.MakeSeed()}}
}

// Pending implements [wire.Stream].
func (c *calls) Pending() int { return c.pending }

// answer notes what a response object says about itself. Its status is the reason of
// its end.
func (c *calls) answer(response jsonstream.Value) {
	c.notes.Answer.Read(response)
	if status, _ := response.Get("status"); !status.IsText("in_progress") {
		c.notes.Answer.Finished(status)
	}
}

// Notes implements [wire.Stream] and [wire.Body].
func (c *calls) Notes() wire.Notes { return c.notes }

// Vain implements [wire.Stream].
func (c *calls) Vain() int64 { return c.vain }

// start announces the call of an item at a position.
func (c *calls) start(item jsonstream.Value, kind kind, index int) *call {
	k := &call{number: len(c.list), kind: kind, index: index, typ: text(item, "type"), item: text(item, "id"),
		id: text(item, "call_id"), name: text(item, "name"), space: text(item, "namespace"), tool: toolOf(kind, item)}
	if caller, ok := item.Get("caller"); ok && wire.Present(caller) {
		typ, _ := caller.Get("type")
		k.programmed = !typ.IsText("direct")
	}
	c.list = append(c.list, k)
	c.pending++
	c.sink.Event(c.emit(k, stopgate.CallStarted))
	switch {
	case len(c.list) > c.o.MaxCalls:
		c.refuse(k, stopgate.CodeLimitExceeded)
	case kind == unknownCall, k.programmed, c.req.Refuses(stopgate.ToolName(k.tool)):
		c.refuse(k, stopgate.CodePolicyNotConfigured)
	case c.refuseTwins(k), k.id == "", k.tool == "":
		c.refuse(k, stopgate.CodeProtocolViolation)
	}
	return k
}

// refuseTwins refuses the earlier calls with a call's id: a result could be meant
// for either of them (F3).
func (c *calls) refuseTwins(k *call) (found bool) {
	for _, other := range c.list[:k.number] {
		if other.id == k.id {
			c.refuse(other, stopgate.CodeProtocolViolation)
			found = true
		}
	}
	return found
}

func (c *calls) emit(k *call, kind stopgate.EventKind) *stopgate.Event {
	c.event = stopgate.Event{Kind: kind, Call: k.number, ID: stopgate.CallID(k.id), Tool: stopgate.ToolName(k.tool)}
	return &c.event
}

// refuse ends a call with a code of its own.
func (c *calls) refuse(k *call, code stopgate.Code) {
	if k.over {
		return
	}
	k.over, k.refused = true, true
	c.held -= len(k.added) + len(k.done)
	k.added, k.done, k.copies, k.parts = nil, nil, copies{}, nil
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

// hold keeps bytes for a call; over the limit the call is refused.
func (c *calls) hold(k *call, text []byte) []byte {
	if k.over {
		return nil
	}
	if c.held+len(text) > c.o.MaxHeld {
		c.refuse(k, stopgate.CodeLimitExceeded)
		return nil
	}
	c.held += len(text)
	return text
}

// decoded is the text of a string value, valid until the next one is asked for.
func (c *calls) decoded(v jsonstream.Value) []byte {
	if direct, ok := v.TextBytes(); ok {
		return direct
	}
	c.text = v.AppendText(c.text[:0])
	return c.text
}

// delta takes the next piece of a call's argument text, which stood as raw between
// quotes.
func (c *calls) delta(k *call, piece, raw []byte) {
	switch {
	case k.over, len(piece) == 0:
		if k.refused {
			k.vain += int64(len(piece))
			c.vain = max(c.vain, k.vain)
		}
		return
	case k.settled:
		c.refuse(k, stopgate.CodeTrailingData) // F2
		return
	}
	c.join(k, piece, raw)
	c.feed(k, piece)
}

// feed gives argument text to the sink. Free text becomes the value of the one
// member that rules see (WIRE 3.3).
func (c *calls) feed(k *call, text []byte) {
	k.said = append(k.said, text[:min(len(text), saidBytes-len(k.said))]...)
	if k.kind == custom {
		c.open(k)
		c.quoted = jsonstream.AppendQuote(c.quoted[:0], text)
		text = c.quoted[1 : len(c.quoted)-1]
	}
	c.give(k, text)
}

func (c *calls) give(k *call, text []byte) {
	if len(text) == 0 {
		return
	}
	if e := &c.event; e.Kind != stopgate.CallArguments || e.Call != k.number {
		c.emit(k, stopgate.CallArguments)
	}
	c.event.Args = text
	c.sink.Event(&c.event)
}

func (c *calls) open(k *call) {
	if !k.opened {
		k.opened = true
		c.give(k, []byte(`{"input":"`))
	}
}

// same refuses a call whose item says something else about it than before (L5).
func (c *calls) same(k *call, item jsonstream.Value, kind kind) {
	if kind != k.kind || text(item, "type") != k.typ || text(item, "id") != k.item || text(item, "call_id") != k.id ||
		text(item, "name") != k.name || text(item, "namespace") != k.space {
		c.refuse(k, stopgate.CodeEnvelopeMismatch)
	}
}

// close handles the finished item of a call.
func (c *calls) close(k *call, item jsonstream.Value, kind kind) {
	c.same(k, item, kind)
	if status, ok := item.Get("status"); ok && wire.Present(status) && !status.IsText("completed") {
		c.refuse(k, stopgate.CodeStreamTruncated)
	}
	v, _ := item.Get(k.kind.member())
	c.whole(k, v)
	c.checkParts(k, v)
	if k.kind == custom && !k.over {
		c.open(k)
		c.give(k, []byte(`"}`))
	}
	k.closed = true
}

// finish ends every call at the end of the response.
func (c *calls) finish(end stopgate.End) {
	c.end = end
	for _, k := range c.list {
		switch {
		case k.over:
		case !k.closed && end == stopgate.Ended:
			c.refuse(k, stopgate.CodeProtocolViolation)
		default:
			k.over = true
			e := c.emit(k, stopgate.CallEnded)
			e.End = end
			c.sink.Event(e)
		}
	}
	c.event = stopgate.Event{Kind: stopgate.TurnEnded, End: end}
	c.sink.Event(&c.event)
}
