package provider

import (
	"bytes"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Round is one response of a model within a response that the gate continues: the data of
// its events or its body, as the provider sent it, and the results that the gate gave for
// its calls.
type Round struct {
	Events     [][]byte
	Body       []byte
	ClientBody []byte // the part of Body that the client receives
	Results    []CallResult
	// Estimate is the usage of a round that was cancelled before its provider sent any.
	Estimate Tokens
}

// CallResult is the result that the model receives for a call that did not run.
type CallResult struct {
	Call    stopgate.CallID
	Text    string
	Skipped bool // the result is not an error (K34)
}

// MultiRound is implemented by dialects in which the gate can send results to the model
// itself, so that the model continues within one response to the client.
type MultiRound interface {
	// NextRequest returns the request that follows a round whose calls were all refused: it
	// contains the output of the model and a result for each call. ok is false if the
	// dialect cannot express it.
	NextRequest(request []byte, round Round) (next []byte, ok bool)
	// IsLastEvent reports whether no event follows the one with this data.
	IsLastEvent(data []byte) bool
	// Join returns the stream of the next round as a continuation of the response so far.
	// before is the stream of the previous round; rounds are all previous rounds.
	Join(before Stream, rounds []Round, next Stream) Stream
	// JoinBody does the same for a body. replaced are the calls that [CallReplacer] returns
	// for a joined stream.
	JoinBody(rounds []Round, body []byte) (joined []byte, replaced []ReplacedCall)
}

// RoundCloser is implemented by the streams and bodies of a dialect in which content
// replaces calls that the gate answered. In such a round CloseRound is called instead of
// Release: it appends the client's part of the round, without the end of the response.
// For a body, this becomes [Round.ClientBody].
type RoundCloser interface {
	CloseRound(dst []byte, outcomes []CallOutcome) []byte
}

// TextAdder is implemented by streams. AddText adds a text of the gate to a choice whose calls
// wait for Release, which writes the text.
type TextAdder interface {
	AddText(choice int, text string)
}

// DenialEnvelope returns the JSON text that is the result of a refused call (G2-15).
func DenialEnvelope(code stopgate.Code, public string) string {
	if public == "" {
		public = code.Public()
	}
	text := append([]byte(`{"status":"denied","code":`), jsonstream.AppendQuote(nil, string(code))...)
	text = jsonstream.AppendQuote(append(text, `,"publicReason":`...), public)
	return string(append(text, `,"data":null}`...))
}

// AddUsage adds the edits that add the counters of earlier rounds to those of a response. A
// counter that an earlier round lacks stays.
func (e *Edits) AddUsage(usage jsonstream.Value, earlier ...jsonstream.Value) {
	for k, v := range usage.Members() {
		key := string(Key(k))
		switch v.Kind() {
		case jsonstream.Object:
			var inner []jsonstream.Value
			for _, was := range earlier {
				if w, ok := was.Get(key); ok {
					inner = append(inner, w)
				}
			}
			e.AddUsage(v, inner...)
		case jsonstream.Number:
			sum, ok := parseCount(v)
			for _, was := range earlier {
				if w, has := was.Get(key); has && ok {
					var n int64
					n, ok = parseCount(w)
					sum += n
				}
			}
			if ok {
				e.Replace(v, strconv.AppendInt(nil, sum, 10))
			}
		}
	}
}

func parseCount(v jsonstream.Value) (int64, bool) {
	n, err := strconv.ParseInt(string(v.Raw()), 10, 48)
	return n, err == nil
}

// AppendElements adds the edit that appends elements to an array.
func (e *Edits) AppendElements(array jsonstream.Value, elements ...[]byte) {
	_, end := array.Span()
	text := bytes.Join(elements, []byte{','})
	if array.Len() > 0 && len(text) > 0 {
		text = append([]byte{','}, text...)
	}
	e.Insert(end-1, text)
}

// RewriteEvents decodes the output of a codec and passes each event to f, which appends the
// event for the client.
func RewriteEvents(dst, out []byte, f func(dst []byte, ev *sse.Event) []byte) []byte {
	if len(out) == 0 {
		return dst
	}
	d := sse.NewDecoder(nil, sse.Limits{})
	d.Feed(out)
	var ev sse.Event
	for {
		ok, err := d.Next(&ev)
		if err != nil || !ok {
			return append(dst, d.Tail()...)
		}
		dst = f(dst, &ev)
	}
}

// JoinedStream is the stream of a later round that passes every event of its output to
// RewriteEvent. Dialects use it to implement [MultiRound.Join].
type JoinedStream struct {
	Stream
	// RewriteEvent appends the event for the client.
	RewriteEvent func(dst []byte, ev *sse.Event) []byte
}

// Event implements [Stream].
func (j *JoinedStream) Event(dst []byte, ev *sse.Event) ([]byte, Need, error) {
	out, need, err := j.Stream.Event(nil, ev)
	return RewriteEvents(dst, out, j.RewriteEvent), need, err
}

// Release implements [Stream].
func (j *JoinedStream) Release(dst []byte, outcomes []CallOutcome, flush Flush) ([]byte, error) {
	out, err := j.Stream.Release(nil, outcomes, nil)
	if dst = RewriteEvents(dst, out, j.RewriteEvent); err != nil {
		return dst, err
	}
	return flush.IfFull(dst)
}

// EOF implements [Stream].
func (j *JoinedStream) EOF(dst, tail []byte) ([]byte, Need, error) {
	out, need, err := j.Stream.EOF(nil, tail)
	return RewriteEvents(dst, out, j.RewriteEvent), need, err
}

// AddText implements [TextAdder].
func (j *JoinedStream) AddText(choice int, text string) {
	if to, ok := j.Stream.(TextAdder); ok {
		to.AddText(choice, text)
	}
}

// CloseRound implements [RoundCloser] if the stream does.
func (j *JoinedStream) CloseRound(dst []byte, outcomes []CallOutcome) []byte {
	if in, ok := j.Stream.(RoundCloser); ok {
		dst = RewriteEvents(dst, in.CloseRound(nil, outcomes), j.RewriteEvent)
	}
	return dst
}
