package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Past is a call that the history of a request holds, or the result of a call that it
// does not hold (WIRE 7.1). It points into the request's body.
type Past struct {
	Call stopgate.CallID
	Tool stopgate.ToolName // "" if the request has the result only
	// Item says that Call may be the id of the call's item as well: the result has no
	// other.
	Item bool
	args jsonstream.Value
	form ArgsForm
	// Results are what the history gives as the call's result; more than one is
	// unusual, and the model sees all of them.
	Results []PastResult
}

// PastResult is the result of a call in a history.
type PastResult struct {
	// Content is the value that holds the result, and what is replaced where the model
	// must not get it.
	Content jsonstream.Value
	// Failed is what the dialect says about it; Flagged, whether it can say it.
	Failed, Flagged bool
	// Replacement makes of a text, as a JSON string, what may stand in the place of the
	// content; nil where that is the string itself.
	Replacement func(quoted []byte) []byte
}

// ArgsForm says how a history holds the arguments of a call.
type ArgsForm uint8

// The forms.
const (
	ArgsNone   ArgsForm = iota // not at all
	ArgsText                   // a JSON string with the JSON text
	ArgsObject                 // an object
	ArgsInput                  // free text, the member "input" to rules
)

// NewPast is a call in a history.
func NewPast(id stopgate.CallID, tool stopgate.ToolName, args jsonstream.Value, form ArgsForm) Past {
	return Past{Call: id, Tool: tool, args: args, form: form}
}

// HasArgs reports whether the history holds the call's arguments.
func (p *Past) HasArgs() bool { return p.form != ArgsNone }

// Args is the call's arguments as JSON text. No arguments at all are an empty object,
// as they are when a call is released (THREATS A14).
func (p *Past) Args() []byte {
	switch {
	case p.form == ArgsText && p.args.Kind() == jsonstream.String:
		if text := p.args.AppendText(nil); len(text) > 0 {
			return text
		}
		return []byte("{}")
	case p.form == ArgsText && !Present(p.args):
		return []byte("{}")
	case p.form == ArgsInput && p.args.Kind() == jsonstream.String:
		return append(append([]byte(`{"input":`), p.args.Raw()...), '}')
	}
	return p.args.Raw()
}

// Text is what the result says: its text, or that of its parts, or else its JSON.
func (r *PastResult) Text() []byte {
	switch r.Content.Kind() {
	case jsonstream.String:
		return r.Content.AppendText(nil)
	case jsonstream.Array:
		var text []byte
		for part := range r.Content.Elements() {
			said, ok := part.Get("text")
			if !ok || said.Kind() != jsonstream.String {
				return r.Content.Raw()
			}
			if len(text) > 0 {
				text = append(text, '\n')
			}
			text = said.AppendText(text)
		}
		return text
	}
	return r.Content.Raw()
}

// Replace collects the change that puts another text in the place of the result.
func (r *PastResult) Replace(edits *Edits, text []byte) {
	if !r.Content.IsValid() {
		return // there is nothing that the model could see
	}
	quoted := jsonstream.AppendQuote(nil, text)
	if r.Replacement != nil {
		quoted = r.Replacement(quoted)
	}
	edits.Replace(r.Content, quoted)
}

// PastList collects the calls of a history and finds the call of a result.
type PastList struct {
	List []Past
	last map[stopgate.CallID]int
}

// Add takes a call.
func (l *PastList) Add(p Past) {
	if l.last == nil {
		l.last = make(map[stopgate.CallID]int)
	}
	l.last[p.Call] = len(l.List)
	l.List = append(l.List, p)
}

// Also makes the newest call known by a second id.
func (l *PastList) Also(id stopgate.CallID) {
	if id != "" && len(l.List) > 0 {
		l.last[id] = len(l.List) - 1
	}
}

// Message begins a message with calls, in a dialect whose results belong to the calls
// of the nearest one before them.
func (l *PastList) Message() { clear(l.last) }

// Result takes a result. One that belongs to no call that is known stands alone.
func (l *PastList) Result(id stopgate.CallID, r PastResult) { l.result(Past{Call: id}, r) }

// ItemResult is [PastList.Result] for a result that may name the call's item.
func (l *PastList) ItemResult(id stopgate.CallID, r PastResult) {
	l.result(Past{Call: id, Item: true}, r)
}

func (l *PastList) result(of Past, r PastResult) {
	at, ok := l.last[of.Call]
	if !ok {
		at = len(l.List)
		l.Add(of)
	}
	l.List[at].Results = append(l.List[at].Results, r)
}

// Hints are what a request says about the conversation that it belongs to (WIRE 7.3).
type Hints struct {
	UserID       string // of Anthropic's metadata
	Conversation string // of the Responses API
	Previous     string // the response that is continued
	CacheKey     string // prompt_cache_key
	Unstored     bool   // the provider forgets the response: it cannot be continued by its id
	// Opening identifies the conversation by its system text and first user message;
	// "" if it has none.
	Opening string
	// Spoken identifies the newest message of the user; "" if there is none.
	Spoken string
}

// Speech makes the Hints of a history out of its messages, in their order. Only their
// text counts: clients move marks for caches about.
type Speech struct {
	opening hash.Hash
	closed  bool // the first user message is complete
	heard   int
	newest  [sha256.Size]byte
}

// System takes a system text, as far as it stands before the first user message.
func (s *Speech) System(content jsonstream.Value) {
	if !s.closed {
		s.write(s.begin(), "system", content)
	}
}

// User takes a message of the user.
func (s *Speech) User(content jsonstream.Value) {
	if !s.closed {
		s.write(s.begin(), "user", content)
		s.closed = true
	}
	s.heard++
	h := sha256.New()
	s.write(h, strconv.Itoa(s.heard), content)
	h.Sum(s.newest[:0])
}

func (s *Speech) begin() hash.Hash {
	if s.opening == nil {
		s.opening = sha256.New()
	}
	return s.opening
}

// write adds the text of a message, or of its parts, so that two different lists of
// texts never look the same.
func (s *Speech) write(h hash.Hash, who string, content jsonstream.Value) {
	part := func(text []byte) {
		h.Write(strconv.AppendInt(nil, int64(len(text)), 10))
		h.Write([]byte{' '})
		h.Write(text)
	}
	part([]byte(who))
	if content.Kind() != jsonstream.Array {
		part(content.AppendText(nil))
		return
	}
	for p := range content.Elements() {
		text, _ := p.Get("text")
		part(text.AppendText(nil))
	}
}

// Hints are the two hashes; more is mixed into the newest message's where it does not
// stand for itself.
func (s *Speech) Hints(more string) (h Hints) {
	if s.closed {
		h.Opening = hex.EncodeToString(s.opening.Sum(nil)[:16])
		sum := sha256.Sum256(append(s.newest[:], more...))
		h.Spoken = hex.EncodeToString(sum[:16])
	}
	return h
}
