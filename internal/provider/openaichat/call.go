package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// carrier is the member that contains a call's name and arguments.
type carrier uint8

const (
	anyCarrier carrier = iota // not known yet
	function
	custom
	legacy // function_call in the delta itself
)

// Keys of calls without an index of their own.
const (
	byID      = -1 // index missing, identified by the id
	noIndex   = -2 // neither index nor id
	badIndex  = -3 // invalid index
	legacyKey = -4 // the legacy call of its choice
	overflow  = -5 // all calls above the limit
)

// call is one buffered call. It stores argument text only before its name is known; later
// arguments are passed to the gate.
type call struct {
	number  int // number of the call in stopgate.Event, assigned when it starts
	key     int // index in its choice, or one of the negative keys
	id      string
	name    string
	carrier carrier

	started    bool // CallStarted was emitted
	ended      bool // CallRefused or CallEnded was emitted
	refused    bool
	late       int64 // bytes of arguments received after the refusal
	superseded bool  // another call has its index now
	opened     bool  // custom: the object around the text was started

	earlyArgs []byte // arguments that preceded the name
	balance   balance
	extras    []extra // unknown members, written with the call

	released []byte // the text of an allowed call, during Release
}

// choice is the state of one choices[].index.
type choice struct {
	index       int
	calls       []*call
	roleSent    bool // a role was sent to the client
	contentSent bool // content was sent to the client
	mixed       bool // tool_calls and function_call in one choice
	done        bool // its finish reason was received
	end         stopgate.End

	ownText  string  // text added by the gate
	released int     // number of calls that were released
	order    []*call // body: the call of each element of tool_calls
}

// current returns the call with this index.
func (c *choice) current(index int) *call {
	for _, k := range c.calls {
		if k.key == index && !k.superseded {
			return k
		}
	}
	return nil
}

// byID returns the call with this id.
func (c *choice) byID(id jsonstream.Value) *call {
	for _, k := range c.calls {
		if k.id != "" && !k.superseded && id.IsText(k.id) {
			return k
		}
	}
	return nil
}

// openCalls returns how many calls a delta without index and id could continue, and one of
// them.
func (c *choice) openCalls() (n int, last *call) {
	for _, k := range c.calls {
		if !k.superseded && k.key != overflow {
			n++
			last = k
		}
	}
	return n, last
}

// assembly assembles the calls of one response from its chunks, and reports them to the
// sink.
type assembly struct {
	req      *provider.Request
	sink     provider.Sink
	o        provider.Options
	choices  []*choice
	count    int  // number of calls
	started  int  // number of started calls
	pending  int  // started and neither released nor dropped
	complete bool // every call arrives in one part
	buffered int  // bytes buffered for calls
	notes    provider.Notes
	maxLate  int64          // see LateBytes
	event    stopgate.Event // reused: a sink may use it only during its call
	text     []byte         // reused for unescaped strings
	quoted   []byte         // reused for custom text
}

func newAssembly(r *provider.Request, sink provider.Sink, o provider.Options) assembly {
	if r == nil {
		r = &provider.Request{}
	}
	o = o.WithDefaults()
	if o.NewID == nil {
		o.NewID = newID
	}
	return assembly{req: r, sink: sink, o: o}
}

// Pending implements [provider.Stream].
func (a *assembly) Pending() int { return a.pending }

// readInfo reads the metadata of a chunk.
func (a *assembly) readInfo(c *chunk) {
	if !a.notes.Response.Started || c.usage {
		a.notes.Response.Read(c.root)
	}
	for i := range c.elements {
		if c.elements[i].reason.IsValid() {
			a.notes.Response.AddFinishReason(c.elements[i].reason)
		}
	}
}

// Notes implements [provider.Stream] and [provider.Body].
func (a *assembly) Notes() provider.Notes { return a.notes }

// maxChoices limits the state of one response; no provider offers as many.
const maxChoices = 1024

// choice returns the state of an index, nil above the limit.
func (a *assembly) choice(index int) *choice {
	for _, c := range a.choices {
		if c.index == index {
			return c
		}
	}
	if len(a.choices) == maxChoices {
		return nil
	}
	c := &choice{index: index}
	a.choices = append(a.choices, c)
	return c
}

// newCall adds a call to a choice. Above the limit of calls, one refused call per choice
// represents all further ones.
func (a *assembly) newCall(c *choice, key int) *call {
	if a.count >= a.o.MaxCalls {
		if k := c.current(overflow); k != nil {
			a.notes.Dropped++
			return k
		}
		key = overflow
	}
	k := &call{key: key}
	a.count++
	a.pending++
	c.calls = append(c.calls, k)
	return k
}

// emit prepares an event of a call.
func (a *assembly) emit(c *choice, k *call, kind stopgate.EventKind) *stopgate.Event {
	a.event = stopgate.Event{Kind: kind, Call: k.number, Choice: c.index, ID: stopgate.CallID(k.id), Tool: stopgate.ToolName(k.name)}
	return &a.event
}

// announce emits CallStarted once, and reports whether it did.
func (a *assembly) announce(c *choice, k *call) bool {
	if k.started {
		return false
	}
	k.started = true
	k.number = a.started
	a.started++
	a.sink.Event(a.emit(c, k, stopgate.CallStarted))
	return true
}

// start starts a call whose name is known, and passes the arguments that preceded the name.
func (a *assembly) start(c *choice, k *call) {
	if !a.announce(c, k) {
		return
	}
	switch {
	case k.key == overflow:
		a.refuse(c, k, stopgate.CodeLimitExceeded)
	case c.mixed:
		a.refuse(c, k, stopgate.CodeEnvelopeMismatch)
	case a.req.IsUnknown(stopgate.ToolName(k.name)):
		a.refuse(c, k, stopgate.CodePolicyNotConfigured)
	case len(k.earlyArgs) > 0:
		early := k.earlyArgs
		a.release(len(early))
		k.earlyArgs = nil
		a.pass(c, k, early)
	}
}

// refuse ends a call with a code of the codec.
func (a *assembly) refuse(c *choice, k *call, code stopgate.Code) {
	if k.ended {
		return
	}
	a.announce(c, k)
	k.ended, k.refused = true, true
	a.release(len(k.earlyArgs))
	k.earlyArgs = nil
	e := a.emit(c, k, stopgate.CallRefused)
	e.Code = code
	a.sink.Event(e)
}

// refuseOpen refuses every call that has not ended.
func (a *assembly) refuseOpen(code stopgate.Code) {
	for _, c := range a.choices {
		for _, k := range c.calls {
			a.refuse(c, k, code)
		}
	}
}

// reserve counts bytes that the codec buffers for a call, and refuses the call if they
// exceed the limit.
func (a *assembly) reserve(c *choice, k *call, n int) bool {
	if a.buffered+n > a.o.MaxBuffered {
		a.refuse(c, k, stopgate.CodeLimitExceeded)
		return false
	}
	a.buffered += n
	return true
}

// release undoes reserve.
func (a *assembly) release(n int) { a.buffered -= n }

// LateBytes implements [provider.Stream].
func (a *assembly) LateBytes() int64 { return a.maxLate }

// countLate counts argument bytes of a call that was refused before.
func (a *assembly) countLate(k *call, n int) {
	if k.refused {
		k.late += int64(n)
		a.maxLate = max(a.maxLate, k.late)
	}
}

// feed processes the next chunk of a call's argument text.
func (a *assembly) feed(c *choice, k *call, text []byte) {
	if k.ended || len(text) == 0 {
		a.countLate(k, len(text))
		return
	}
	if !a.complete {
		k.balance.feed(text)
	}
	if !k.started {
		if a.reserve(c, k, len(text)) {
			k.earlyArgs = append(k.earlyArgs, text...)
		}
		return
	}
	a.pass(c, k, text)
}

// pass passes argument text to the sink. Free text becomes the value of the member input,
// which rules match.
func (a *assembly) pass(c *choice, k *call, text []byte) {
	if k.carrier == custom {
		a.quoted = jsonstream.AppendQuote(a.quoted[:0], text)
		text = a.quoted[1 : len(a.quoted)-1]
		a.openCustom(c, k)
	}
	if e := &a.event; e.Kind != stopgate.CallArguments || e.Call != k.number || string(e.ID) != k.id {
		a.emit(c, k, stopgate.CallArguments)
	}
	a.event.Args = text
	a.sink.Event(&a.event)
}

func (a *assembly) openCustom(c *choice, k *call) {
	if k.opened {
		return
	}
	k.opened = true
	e := a.emit(c, k, stopgate.CallArguments)
	e.Args = customOpen
	a.sink.Event(e)
}

var (
	customOpen  = []byte(`{"input":"`)
	customClose = []byte(`"}`)
)

// finish ends every call of a choice at its finish reason.
func (a *assembly) finish(c *choice, end stopgate.End) {
	c.done, c.end = true, end
	for _, k := range c.calls {
		if k.ended {
			continue
		}
		if !k.started {
			a.refuse(c, k, stopgate.CodeProtocolViolation)
			continue
		}
		if end == stopgate.Ended {
			if k.carrier == custom {
				a.openCustom(c, k)
				e := a.emit(c, k, stopgate.CallArguments)
				e.Args = customClose
				a.sink.Event(e)
			}
			if k.id == "" {
				k.id = a.o.NewID()
				a.notes.GeneratedIDs++
			}
		}
		k.ended = true
		e := a.emit(c, k, stopgate.CallEnded)
		e.End = end
		a.sink.Event(e)
	}
	a.event = stopgate.Event{Kind: stopgate.TurnEnded, Choice: c.index, End: end}
	a.sink.Event(&a.event)
}

// endOf returns how a finish reason ends the buffered calls.
func endOf(reason jsonstream.Value) stopgate.End {
	if reason.IsText("tool_calls") || reason.IsText("function_call") || reason.IsText("stop") {
		return stopgate.Ended
	}
	return stopgate.Truncated
}
