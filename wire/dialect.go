package wire

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire/sse"
)

// Sink takes what a codec sees, synchronously and in the order of the bytes. The
// order of one call's events is CallStarted, CallArguments..., then CallRefused
// or CallEnded; nothing comes behind the last. Every call gets one of the two.
//
// Calls are numbered in the order in which they start. They are released in the
// order of their first fragments; a call whose name comes late starts behind
// later ones.
//
// CallStarted may lack the id where the dialect sends it later; CallEnded has the
// id under which the call is released. A CallStarted without a name is followed
// by CallRefused. TurnEnded follows when all calls of its choice have ended.
type Sink interface {
	Event(e *stopgate.Event)
}

// Dialect is one wire format, for requests and both framings of responses.
type Dialect interface {
	// Name is what records and settings call the dialect: "openai-chat",
	// "openai-responses", "anthropic".
	Name() string
	// Request reads a request body strictly. The error is a *RequestError.
	Request(body []byte) (*Request, error)
	// Stream decodes and rewrites a response with Content-Type
	// text/event-stream.
	Stream(r *Request, sink Sink, o Options) Stream
	// Body decodes and rewrites a response with Content-Type application/json.
	Body(r *Request, sink Sink, o Options) Body
	// ErrorBody is the body of an HTTP error answer in the dialect's form; an
	// empty message becomes the code's public text.
	ErrorBody(status int, code stopgate.Code, message string) []byte
}

// Options are the settings and limits of one response. Zero means the default.
type Options struct {
	// ObjectArguments accepts arguments that are an object instead of a string;
	// some compatible servers send them ([upstream.ID] object_arguments).
	ObjectArguments bool
	// PassItems are the types of output items that no codec knows and that may pass
	// unjudged ([gateway] pass_items).
	PassItems []string
	// AnyKind accepts a body that is no answer of the dialect, such as an error in
	// words of the provider's own.
	AnyKind bool
	// MaxCalls is how many calls one response may have (WIRE 1.2).
	MaxCalls int
	// MaxHeld bounds the bytes that the codec itself holds back: arguments
	// without a name, blocks behind a held call (WIRE 1.2).
	MaxHeld int
	// MaxBytes bounds one event and one body (WIRE 1.2).
	MaxBytes int
	// NewID makes up the id of an allowed call that has none. Nil: random.
	NewID func() string
}

// The defaults of Options (WIRE 1.2).
const (
	DefaultMaxCalls = 256
	DefaultMaxHeld  = 32 << 20
	DefaultMaxBytes = 32 << 20
)

// WithDefaults fills in what is zero.
func (o Options) WithDefaults() Options {
	if o.MaxCalls <= 0 {
		o.MaxCalls = DefaultMaxCalls
	}
	if o.MaxHeld <= 0 {
		o.MaxHeld = DefaultMaxHeld
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return o
}

// Need is what a stream wants of its driver after an event.
type Need uint8

// What a stream can want.
const (
	// Nothing: go on with the next event.
	Nothing Need = iota
	// Resolve: one or more choices have ended with calls. The driver resolves
	// the calls of every choice for which the sink saw TurnEnded and then calls
	// Release, before it gives the next event.
	Resolve
	// Finished: the terminal event is written. Later events change nothing; they
	// are counted in Notes.Dropped.
	Finished
)

// Release is the outcome of one call, in the terms of a codec.
type Release struct {
	Call    int    // as in stopgate.Event
	Allowed bool   // false: the call is replaced by Text
	Args    []byte // what must run, byte for byte; one JSON object
	Text    string // the line that stands for a denied call, from DenialText
	Answer  string // the denied call's result for the model, where one is wanted; empty: Text
}

// Spill takes finished output from a codec, so that a large call does not have
// to stand in memory twice. What it is given may end inside of an event, and the
// codec uses the slice again afterwards. An error ends the release and is returned
// by it.
type Spill func(p []byte) error

// SpillSize is about how much output a codec collects before it spills.
const SpillSize = 32 << 10

// Over hands dst over if it is long enough, and returns what is left of it. A
// nil Spill takes nothing.
func (s Spill) Over(dst []byte) ([]byte, error) {
	if s == nil || len(dst) < SpillSize {
		return dst, nil
	}
	err := s(dst)
	return dst[:0], err
}

// Through appends p to dst, or hands both over if p is long: then it is not copied.
func (s Spill) Through(dst, p []byte) ([]byte, error) {
	if s == nil || len(p) < SpillSize {
		return append(dst, p...), nil
	}
	if len(dst) > 0 {
		if err := s(dst); err != nil {
			return dst[:0], err
		}
	}
	return dst[:0], s(p)
}

// Notes is what a response showed that is no call and must not be lost: it
// belongs into the record of the exchange.
type Notes struct {
	// Dropped counts events, and parts of events, that came after an end or in a
	// place where no client may see them (L10, F11).
	Dropped int
	// NotEvaluated names what may have carried a call and was not judged, such as
	// blocks of tools that ran at the provider (L12).
	NotEvaluated []string
	// Strange names the events that did not fit into a response without calls, which was
	// forwarded as it came.
	Strange []string
	// Removed names what was taken out of the response because a client may take it for a
	// call, and nobody judged it.
	Removed []string
	// UsageIncomplete says that the client's usage numbers do not cover the whole
	// response, because the upstream was cancelled.
	UsageIncomplete bool
	// UsageEstimated says that these numbers are no provider's: it was stopped before it
	// sent any, and they follow from the bytes of the request and the response.
	UsageEstimated bool
	// MadeUpIDs counts the calls that got an id from the gate.
	MadeUpIDs int
	// Answer is what the response says about itself.
	Answer Answer
}

// Stream is one streamed response. It is not safe for concurrent use: a driver
// that writes keepalives from another goroutine holds a lock around every call.
type Stream interface {
	// Event takes one unit of the stream and appends to dst what the client may
	// have now. Comments and other units without data go through it too. The
	// error is a *StreamError, after which only Abort is called. A unit that is
	// answered with Resolve must stay unchanged until Release.
	Event(dst []byte, ev *sse.Event) (out []byte, need Need, err error)
	// Release appends the end of every choice that has ended: denial text,
	// surviving calls, finish. It wants one outcome for each of their calls, in
	// any order; a call without an outcome is denied. If spill is not nil,
	// output may be handed to it on the way.
	Release(dst []byte, outcomes []Release, spill Spill) (out []byte, err error)
	// Pending is how many calls were announced and are neither released nor
	// dropped.
	Pending() int
	// CanCancel reports whether the upstream may be cancelled now, provided that
	// the driver knows every pending call to be denied: there are such calls,
	// nothing else is open, and only one choice was asked for (WIRE 2.7, 4.6).
	CanCancel() bool
	// Cancel says that the upstream is being cancelled. The held calls end as
	// Cancelled; the driver resolves them and calls Release, which writes the
	// denials and a legal end of the response.
	Cancel()
	// Vain is how many bytes of arguments came behind the codec's own refusal of their
	// call, for the call with the most of them.
	Vain() int64
	// Abort appends the dialect's error event, and nothing after it. Held calls
	// are refused with the code. An empty message becomes the code's public text.
	Abort(dst []byte, code stopgate.Code, message string) []byte
	// EOF says that the upstream's body ended properly; tail is what the decoder
	// had left. It appends what the client still misses, or returns the
	// *StreamError with which to abort. need is Resolve if the tail ended the turn
	// of calls, as in Event, else Finished. (A body that broke off is an Abort.)
	EOF(dst []byte, tail []byte) (out []byte, need Need, err error)
	// Keepalive appends something that keeps the client awake. It may stand
	// between any two events. long says that something has been held for more
	// than a minute: then an event that clients count as activity (DECISIONS
	// S17).
	Keepalive(dst []byte, long bool) []byte
	// Notes is what the response showed so far.
	Notes() Notes
}

// Repeater is a stream that takes many events at once, where they only repeat the last
// one with other text.
type Repeater interface {
	// Repeats takes the repetitions that text begins with: the same as Event for each of
	// them, but that their arguments come to the sink in one piece. size is how long they
	// are, 0 if the next event must go to Event. Text is what the stream goes on with
	// behind the last event ([sse.Decoder.Rest]).
	Repeats(dst, text []byte) (out []byte, size, events int)
}

// Body is one response that is not streamed.
type Body interface {
	// Decode reads the whole body, which must stay unchanged until Release. The
	// need is Resolve if there are calls, else Finished: the body may pass as it
	// is. The error is a *StreamError; held calls were refused with its code.
	Decode(body []byte) (Need, error)
	// Release appends the body for the client; see Stream.Release. To an empty dst it may
	// be the decoded body itself, if nothing in it changes. The error is a
	// *StreamError: a denial has no place in this body, and none of it may pass.
	Release(dst []byte, outcomes []Release) ([]byte, error)
	// Notes is what the response showed.
	Notes() Notes
}

// StreamError says why a response cannot go on. The client gets it as the
// dialect's error event.
type StreamError struct {
	Code    stopgate.Code
	Message string // one sentence for people, without upstream text
}

func (e *StreamError) Error() string { return string(e.Code) + ": " + e.Message }
