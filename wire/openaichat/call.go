package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// carrier is the member that a call's name and arguments stand in.
type carrier uint8

const (
	anyCarrier carrier = iota // not known yet
	function
	custom
	legacy // function_call in the delta itself
)

// Keys of calls that have no index of their own.
const (
	byID     = -1 // index missing, named by its id
	alone    = -2 // neither index nor id
	broken   = -3 // an index that is none
	theOld   = -4 // the legacy call of its choice
	overflow = -5 // all calls above the limit
)

// call is one held call. What it holds is no argument text, except before its
// name is known: the arguments are with the gate.
type call struct {
	number  int // stopgate.Event.Call, given when it starts
	key     int // index in its choice, or one of the negative keys
	id      string
	name    string
	carrier carrier

	started    bool // CallStarted was emitted
	over       bool // CallRefused or CallEnded was emitted
	refused    bool
	vain       int64 // bytes of arguments behind the refusal
	superseded bool  // another call has taken its index
	opened     bool  // custom: the object around the text was begun

	early   []byte // arguments that came before the name
	balance balance
	extras  []extra // unknown members, to be written with the call

	released []byte // what an allowed call carries, during Release
}

// choice is the state of one choices[].index.
type choice struct {
	index int
	calls []*call
	role  bool // a role was sent to the client
	said  bool // content was sent to the client
	mixed bool // tool_calls and function_call in one choice
	done  bool // its finish reason was seen
	end   stopgate.End

	survivors int     // calls that were released
	order     []*call // body: the call of each element of tool_calls
}

// current returns the call that has an index now.
func (c *choice) current(index int) *call {
	for _, k := range c.calls {
		if k.key == index && !k.superseded {
			return k
		}
	}
	return nil
}

// named returns the call that has an id.
func (c *choice) named(id jsonstream.Value) *call {
	for _, k := range c.calls {
		if k.id != "" && !k.superseded && id.IsText(k.id) {
			return k
		}
	}
	return nil
}

// open returns how many calls a delta without index and id could continue, and
// one of them.
func (c *choice) open() (n int, last *call) {
	for _, k := range c.calls {
		if !k.superseded && k.key != overflow {
			n++
			last = k
		}
	}
	return n, last
}

// assembly puts the calls of one response together and tells the sink.
type assembly struct {
	req     *wire.Request
	sink    wire.Sink
	o       wire.Options
	choices []*choice
	count   int  // calls so far
	started int  // of them
	pending int  // announced and neither released nor dropped
	whole   bool // every call stands in one place
	held    int  // bytes held in calls
	notes   wire.Notes
	vain    int64          // see Vain
	event   stopgate.Event // reused: a sink sees it only during its call
	text    []byte         // reused for unescaped strings
	quoted  []byte         // reused for custom text
}

func newAssembly(r *wire.Request, sink wire.Sink, o wire.Options) assembly {
	if r == nil {
		r = &wire.Request{}
	}
	o = o.WithDefaults()
	if o.NewID == nil {
		o.NewID = newID
	}
	return assembly{req: r, sink: sink, o: o}
}

// Pending implements [wire.Stream].
func (a *assembly) Pending() int { return a.pending }

// answer notes what a chunk says about the response.
func (a *assembly) answer(c *chunk) {
	if !a.notes.Answer.Begun || c.usage {
		a.notes.Answer.Read(c.root)
	}
	for i := range c.elements {
		if c.elements[i].reason.IsValid() {
			a.notes.Answer.Finished(c.elements[i].reason)
		}
	}
}

// Notes implements [wire.Stream] and [wire.Body].
func (a *assembly) Notes() wire.Notes { return a.notes }

// maxChoices bounds the state of one response; no provider offers so many.
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

// newCall adds a call to a choice. Above the limit of calls it is one call per
// choice that stands for all further ones and is refused.
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

// emit tells the sink one thing about a call.
func (a *assembly) emit(c *choice, k *call, kind stopgate.EventKind) *stopgate.Event {
	a.event = stopgate.Event{Kind: kind, Call: k.number, Choice: c.index, ID: stopgate.CallID(k.id), Tool: stopgate.ToolName(k.name)}
	return &a.event
}

// announce tells the sink that a call began, once.
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

// start announces a call whose name is known, and gives on what came before it.
func (a *assembly) start(c *choice, k *call) {
	if !a.announce(c, k) {
		return
	}
	switch {
	case k.key == overflow:
		a.refuse(c, k, stopgate.CodeLimitExceeded)
	case c.mixed:
		a.refuse(c, k, stopgate.CodeEnvelopeMismatch)
	case a.req.Refuses(stopgate.ToolName(k.name)):
		a.refuse(c, k, stopgate.CodePolicyNotConfigured)
	case len(k.early) > 0:
		early := k.early
		a.unhold(len(early))
		k.early = nil
		a.pass(c, k, early)
	}
}

// refuse ends a call with a code of its own.
func (a *assembly) refuse(c *choice, k *call, code stopgate.Code) {
	if k.over {
		return
	}
	a.announce(c, k)
	k.over, k.refused = true, true
	a.unhold(len(k.early))
	k.early = nil
	e := a.emit(c, k, stopgate.CallRefused)
	e.Code = code
	a.sink.Event(e)
}

// refuseOpen ends every call that has not ended.
func (a *assembly) refuseOpen(code stopgate.Code) {
	for _, c := range a.choices {
		for _, k := range c.calls {
			a.refuse(c, k, code)
		}
	}
}

// hold counts bytes that a call keeps here; over the limit the call is refused.
func (a *assembly) hold(c *choice, k *call, n int) bool {
	if a.held+n > a.o.MaxHeld {
		a.refuse(c, k, stopgate.CodeLimitExceeded)
		return false
	}
	a.held += n
	return true
}

// unhold takes back what hold counted.
func (a *assembly) unhold(n int) { a.held -= n }

// Vain implements [wire.Stream].
func (a *assembly) Vain() int64 { return a.vain }

// waste counts argument bytes of a call that is refused already.
func (a *assembly) waste(k *call, n int) {
	if k.refused {
		k.vain += int64(n)
		a.vain = max(a.vain, k.vain)
	}
}

// feed takes the next piece of a call's argument text.
func (a *assembly) feed(c *choice, k *call, text []byte) {
	if k.over || len(text) == 0 {
		a.waste(k, len(text))
		return
	}
	if !a.whole {
		k.balance.feed(text)
	}
	if !k.started {
		if a.hold(c, k, len(text)) {
			k.early = append(k.early, text...)
		}
		return
	}
	a.pass(c, k, text)
}

// pass gives argument text to the sink. Free text becomes the value of the one
// member that rules see (WIRE 2.3).
func (a *assembly) pass(c *choice, k *call, text []byte) {
	if k.carrier == custom {
		a.quoted = jsonstream.AppendQuote(a.quoted[:0], text)
		text = a.quoted[1 : len(a.quoted)-1]
		a.open(c, k)
	}
	if e := &a.event; e.Kind != stopgate.CallArguments || e.Call != k.number || string(e.ID) != k.id {
		a.emit(c, k, stopgate.CallArguments)
	}
	a.event.Args = text
	a.sink.Event(&a.event)
}

func (a *assembly) open(c *choice, k *call) {
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
		if k.over {
			continue
		}
		if !k.started {
			a.refuse(c, k, stopgate.CodeProtocolViolation)
			continue
		}
		if end == stopgate.Ended {
			if k.carrier == custom {
				a.open(c, k)
				e := a.emit(c, k, stopgate.CallArguments)
				e.Args = customClose
				a.sink.Event(e)
			}
			if k.id == "" {
				k.id = a.o.NewID()
				a.notes.MadeUpIDs++
			}
		}
		k.over = true
		e := a.emit(c, k, stopgate.CallEnded)
		e.End = end
		a.sink.Event(e)
	}
	a.event = stopgate.Event{Kind: stopgate.TurnEnded, Choice: c.index, End: end}
	a.sink.Event(&a.event)
}

// ending says what a finish reason means for held calls (WIRE 2.4).
func ending(reason jsonstream.Value) stopgate.End {
	if reason.IsText("tool_calls") || reason.IsText("function_call") || reason.IsText("stop") {
		return stopgate.Ended
	}
	return stopgate.Truncated
}
