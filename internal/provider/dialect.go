package provider

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// Sink receives the events that a codec decodes, synchronously and in the order of the
// bytes. The events of one call are CallStarted, CallArguments..., and then either
// CallRefused or CallEnded, which is the last. Every call gets exactly one of these two.
//
// Calls are numbered in the order in which they start. They are released in the order of
// their first fragments: a call whose name arrives late starts after later ones.
//
// CallStarted may lack the id if the dialect sends it later; CallEnded has the id under
// which the call is released. A CallStarted without a name is followed by CallRefused.
// TurnEnded follows when all calls of its choice have ended.
type Sink interface {
	Event(e *stopgate.Event)
}

// Dialect is one provider wire format: its requests, and both framings of its responses.
type Dialect interface {
	// Name returns the name of the dialect in records and settings: "openai-chat",
	// "openai-responses", "anthropic" or "gemini".
	Name() string
	// Request parses a request body strictly. The error is a *RequestError.
	Request(body []byte) (*Request, error)
	// Stream returns a codec that decodes and rewrites a response with Content-Type
	// text/event-stream.
	Stream(r *Request, sink Sink, o Options) Stream
	// Body returns a codec that decodes and rewrites a response with Content-Type
	// application/json.
	Body(r *Request, sink Sink, o Options) Body
	// ErrorBody returns the body of an HTTP error response in the form of the dialect. An
	// empty message becomes the public text of the code.
	ErrorBody(status int, code stopgate.Code, message string) []byte
}

// Options are the settings and limits of one response. Zero means the default.
type Options struct {
	// ObjectArguments accepts arguments that are an object instead of a string. Some
	// compatible servers send them (setting object_arguments of [upstream.ID]).
	ObjectArguments bool
	// PassItems lists the types of output items that no codec knows and that pass without
	// evaluation (setting pass_items of [gateway]).
	PassItems []string
	// AnyKind accepts a body that is not a response of the dialect, such as an error in the
	// provider's own format.
	AnyKind bool
	// MaxCalls limits the calls of one response.
	MaxCalls int
	// MaxBuffered limits the bytes that the codec itself buffers: arguments that precede
	// their name, and blocks that follow a buffered call.
	MaxBuffered int
	// MaxBytes limits the size of one event and of one body.
	MaxBytes int
	// Result receives the text of the result of a tool that ran at the provider, before the events
	// that follow it in the response. opaque reports that the model may have read more than the
	// text. If it is nil, results are not reported.
	Result func(text []byte, opaque bool)
	// Message receives the id of a message of the model, by which a later request may refer to it. If
	// it is nil, ids are not reported.
	Message func(id string)
	// NewID returns an id for an allowed call that has none. If it is nil, ids are random.
	NewID func() string
}

// Defaults of Options.
const (
	DefaultMaxCalls    = 256
	DefaultMaxBuffered = 32 << 20
	DefaultMaxBytes    = 32 << 20
)

// WithDefaults returns the options with every zero field set to its default.
func (o Options) WithDefaults() Options {
	if o.MaxCalls <= 0 {
		o.MaxCalls = DefaultMaxCalls
	}
	if o.MaxBuffered <= 0 {
		o.MaxBuffered = DefaultMaxBuffered
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return o
}

// Need is the operation that a stream requires of its driver after an event.
type Need uint8

// The values of Need.
const (
	// Continue: pass the next event.
	Continue Need = iota
	// Resolve: one or more choices have ended with calls. Before it passes the next event,
	// the driver resolves the calls of every choice for which the sink received TurnEnded,
	// and calls Release.
	Resolve
	// Finished: the terminal event is written. Later events have no effect; they are
	// counted in Notes.Dropped.
	Finished
)

// CallOutcome is the outcome of one call as a codec needs it.
type CallOutcome struct {
	Call    int    // number of the call, as in stopgate.Event
	Allowed bool   // false: the call is replaced by Text
	Args    []byte // arguments to run, byte for byte; one JSON object
	Text    string // line that replaces a denied call, from DenialText
	Silent  bool   // nothing replaces a denied call; Text is empty
	Result  string // result of a denied call for the model, if one is needed; empty: Text
}

// Flush forwards finished output of a codec, so that a large call is not in memory twice.
// The output may end inside an event, and the codec reuses the slice afterwards. An error
// ends the release, which returns it.
type Flush func(p []byte) error

// FlushSize is the approximate number of output bytes that a codec collects before it
// flushes them.
const FlushSize = 32 << 10

// IfFull flushes dst if it has reached FlushSize, and returns the remaining output. A nil
// Flush returns dst.
func (s Flush) IfFull(dst []byte) ([]byte, error) {
	if s == nil || len(dst) < FlushSize {
		return dst, nil
	}
	err := s(dst)
	return dst[:0], err
}

// Write appends p to dst. If p is long, Write flushes dst and p instead, so that p is not
// copied.
func (s Flush) Write(dst, p []byte) ([]byte, error) {
	if s == nil || len(p) < FlushSize {
		return append(dst, p...), nil
	}
	if len(dst) > 0 {
		if err := s(dst); err != nil {
			return dst[:0], err
		}
	}
	return dst[:0], s(p)
}

// Notes collects the parts of a response other than calls, and the notes for the record of
// the exchange.
type Notes struct {
	// Dropped counts events, and parts of events, that arrived after an end or in a
	// location that clients must not read (L10, F11).
	Dropped int
	// NotEvaluated lists content that may have carried a call and was not evaluated, such
	// as blocks of tools that ran at the provider (L12).
	NotEvaluated []string
	// Unexpected lists the types of events that do not fit into their response. Such a
	// response is forwarded unchanged if it has no call.
	Unexpected []string
	// Removed lists members that were removed from the response because a client could read
	// them as a call, and no codec evaluates them.
	Removed []string
	// UsageIncomplete reports that the usage sent to the client does not cover the whole
	// response, because the upstream was cancelled.
	UsageIncomplete bool
	// UsageEstimated reports that the usage was not sent by the provider: it was cancelled
	// before it sent any, and the counters are estimated from the bytes of the request and
	// the response.
	UsageEstimated bool
	// GeneratedIDs counts the calls whose id was generated by the gate.
	GeneratedIDs int
	// Response is the metadata of the response.
	Response ResponseInfo
}

// Stream is the codec of one streamed response. It is not safe for concurrent use: a driver
// that writes keepalives from another goroutine holds a lock around every call.
type Stream interface {
	// Event processes one unit of the stream and appends to dst the bytes that can be
	// forwarded to the client. Comments and other units without data are passed to it too.
	// The error is a *StreamError, after which only Abort is called. A unit for which Event
	// returns Resolve must not change until Release.
	Event(dst []byte, ev *sse.Event) (out []byte, need Need, err error)
	// Release appends the end of every choice that has ended: denial text, allowed calls
	// and finish reason. It expects one outcome for each of their calls, in any order; a
	// call without an outcome is denied. If flush is not nil, Release may pass output to
	// it.
	Release(dst []byte, outcomes []CallOutcome, flush Flush) (out []byte, err error)
	// Pending returns the number of calls that were started and are neither released nor
	// dropped.
	Pending() int
	// CanCancel reports whether the upstream can be cancelled now, provided that every
	// pending call is denied: there are pending calls, no other content is open, and the
	// request asked for one choice.
	CanCancel() bool
	// CanStop reports whether the response can be ended now, although content is open or no
	// call is pending, provided that every pending call is denied.
	CanStop() bool
	// Cancel records that the upstream is being cancelled, which requires CanStop. The buffered
	// calls end as Cancelled, and open content is closed. The driver resolves them and calls Release, which writes the denials and a
	// valid end of the response.
	Cancel()
	// LateBytes returns the number of argument bytes that arrived after the codec itself
	// refused their call, for the call with the most of them.
	LateBytes() int64
	// Abort appends the error event of the dialect, which ends the response. Buffered calls
	// are refused with the code. An empty message becomes the public text of the code.
	Abort(dst []byte, code stopgate.Code, message string) []byte
	// EOF processes the regular end of the upstream's body; tail is the unread input of the
	// decoder. EOF appends the rest of the response for the client, or returns the
	// *StreamError to abort with. need is Resolve if the tail ended the turn of calls, as
	// in Event, else Finished. If the body broke off, the driver calls Abort instead.
	EOF(dst []byte, tail []byte) (out []byte, need Need, err error)
	// Keepalive appends bytes that keep the client's connection active. They are valid
	// between any two events. If long is set, calls have been buffered for more than a
	// minute, and Keepalive appends an event that clients count as activity, where the
	// dialect has one (S17).
	Keepalive(dst []byte, long bool) []byte
	// Notes returns the notes collected so far.
	Notes() Notes
}

// BatchStream is a stream that processes several events at once if they differ from the
// last one only in their text.
type BatchStream interface {
	// EventBatch processes the events at the start of text that repeat the last one. It has
	// the effect of Event for each of them, except that their arguments reach the sink in
	// one CallArguments event. size is the length of the events in bytes, 0 if the next
	// event must be passed to Event. text is the input that follows the last event
	// ([sse.Decoder.Rest]).
	EventBatch(dst, text []byte) (out []byte, size, events int)
}

// Body is the codec of one response that is not streamed.
type Body interface {
	// Decode reads the whole body, which must not change until Release. need is Resolve if
	// there are calls, else Finished: the body can be forwarded unchanged. The error is a
	// *StreamError; the calls were refused with its code.
	Decode(body []byte) (Need, error)
	// Release appends the body for the client; see Stream.Release. If dst is empty and no
	// edit is necessary, it may return the decoded body itself. The error is a
	// *StreamError: the body has no location for a denial, and no part of it may be
	// forwarded.
	Release(dst []byte, outcomes []CallOutcome) ([]byte, error)
	// Notes returns the notes about the response.
	Notes() Notes
}

// StreamError is the reason why a response is aborted. The client receives it as the error
// event of the dialect.
type StreamError struct {
	Code    stopgate.Code
	Message string // one sentence for people, without upstream text
}

func (e *StreamError) Error() string { return string(e.Code) + ": " + e.Message }
