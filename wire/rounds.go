package wire

import (
	"bytes"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire/sse"
)

// Said is what a model said in one round, as the provider sent it: the data of its
// events, or one body; and what it was told then.
type Said struct {
	Events  [][]byte
	Body    []byte
	Shown   []byte // what the client gets of Body
	Answers []Answered
	// Estimate is the usage of a round that was cancelled before its provider sent any.
	Estimate Tokens
}

// Answered is what the model is told about a call that did not run.
type Answered struct {
	Call    stopgate.CallID
	Text    string
	Skipped bool // it is no error (DECISIONS K34)
}

// Answerer is implemented by dialects in which the gate can answer the model's calls
// itself, so that the model goes on within one response (WIRE 0.3).
type Answerer interface {
	// Answer returns the request behind a round whose calls were all refused: with what
	// the model said and a result for each call. ok is false where the dialect has no
	// way to say that.
	Answer(request []byte, said Said) (next []byte, ok bool)
	// Ends reports whether nothing follows the data of an event.
	Ends(data []byte) bool
	// Join makes the stream of the next round a continuation of the response so far:
	// before is the codec of the round before, said what was said in all of them.
	Join(before Stream, said []Said, next Stream) Stream
	// JoinBody does the same for a body. replaced is what a stream that was joined
	// has in its History.
	JoinBody(said []Said, body []byte) (joined []byte, replaced []Replaced)
}

// Interluder is implemented by the streams and bodies of a dialect in which something
// stands for calls that were answered. Interlude takes the place of Release then: it
// appends what the client sees of the round, without the end of the response. A body's
// is [Said.Shown].
type Interluder interface {
	Interlude(dst []byte, outcomes []Release) []byte
}

// Sayer is implemented by streams. Say adds a text of the gate's own to what the model
// said in a response whose calls wait for Release, which writes it.
type Sayer interface {
	Say(text string)
}

// Envelope is the text that a refused call has as its result (REQUIREMENTS G2-15).
func Envelope(code stopgate.Code, public string) string {
	if public == "" {
		public = code.Public()
	}
	text := append([]byte(`{"status":"denied","code":`), jsonstream.AppendQuote(nil, string(code))...)
	text = jsonstream.AppendQuote(append(text, `,"publicReason":`...), public)
	return string(append(text, `,"data":null}`...))
}

// AddUsage collects the changes that add the counters of earlier rounds to those of a
// response. A counter that an earlier round does not have stays.
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
			sum, ok := whole(v)
			for _, was := range earlier {
				if w, has := was.Get(key); has && ok {
					var n int64
					n, ok = whole(w)
					sum += n
				}
			}
			if ok {
				e.Replace(v, strconv.AppendInt(nil, sum, 10))
			}
		}
	}
}

func whole(v jsonstream.Value) (int64, bool) {
	n, err := strconv.ParseInt(string(v.Raw()), 10, 48)
	return n, err == nil
}

// Append inserts elements behind those of an array.
func (e *Edits) Append(array jsonstream.Value, elements ...[]byte) {
	_, end := array.Span()
	text := bytes.Join(elements, []byte{','})
	if array.Len() > 0 && len(text) > 0 {
		text = append([]byte{','}, text...)
	}
	e.Insert(end-1, text)
}

// Rewrite passes whole events of a codec's output through f, which appends what the
// client gets of each.
func Rewrite(dst, out []byte, f func(dst []byte, ev *sse.Event) []byte) []byte {
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

// Joined is the stream of a later round, with every event that it writes passed through
// Each. Dialects build what [Answerer].Join returns on it.
type Joined struct {
	Stream
	// Each appends what the client gets of an event.
	Each func(dst []byte, ev *sse.Event) []byte
}

// Event implements [Stream].
func (j *Joined) Event(dst []byte, ev *sse.Event) ([]byte, Need, error) {
	out, need, err := j.Stream.Event(nil, ev)
	return Rewrite(dst, out, j.Each), need, err
}

// Release implements [Stream].
func (j *Joined) Release(dst []byte, outcomes []Release, spill Spill) ([]byte, error) {
	out, err := j.Stream.Release(nil, outcomes, nil)
	if dst = Rewrite(dst, out, j.Each); err != nil {
		return dst, err
	}
	return spill.Over(dst)
}

// EOF implements [Stream].
func (j *Joined) EOF(dst, tail []byte) ([]byte, Need, error) {
	out, need, err := j.Stream.EOF(nil, tail)
	return Rewrite(dst, out, j.Each), need, err
}

// Say implements [Sayer].
func (j *Joined) Say(text string) {
	if to, ok := j.Stream.(Sayer); ok {
		to.Say(text)
	}
}

// Interlude appends the interlude of the stream, if it has one.
func (j *Joined) Interlude(dst []byte, outcomes []Release) []byte {
	if in, ok := j.Stream.(Interluder); ok {
		dst = Rewrite(dst, in.Interlude(nil, outcomes), j.Each)
	}
	return dst
}
