package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// PastCall is a call in the history of a request, or the result of a call that the history
// lacks. It refers to the body of the request.
type PastCall struct {
	Call stopgate.CallID
	Tool stopgate.ToolName // "" if the request has only the result
	// MaybeItem reports that Call may also be the id of the call's item, because the result
	// has no other id.
	MaybeItem bool
	args      jsonstream.Value
	form      ArgsForm
	// Results are the results of the call in the history. More than one is unusual; the
	// model reads all of them.
	Results []PastResult
}

// PastResult is the result of a call in a history.
type PastResult struct {
	// Content is the value that holds the result. It is replaced if the model must not
	// receive it.
	Content jsonstream.Value
	// Inner is the value in Content that has the text; invalid if Content itself has it.
	Inner jsonstream.Value
	// Failed reports that the history marks the result as an error; HasStatus reports
	// whether the dialect has such a mark.
	Failed, HasStatus bool
	// Structured reports that the content is JSON of any form, not a list of parts. Opaque reports
	// that the model also reads media with it.
	Structured, Opaque bool
	// WrapText converts a JSON string into a valid replacement of the content. If it is
	// nil, the string itself is valid.
	WrapText func(quoted []byte) []byte
}

// ArgsForm is the form in which a history holds the arguments of a call.
type ArgsForm uint8

// The values of ArgsForm.
const (
	ArgsNone   ArgsForm = iota // the history has no arguments
	ArgsText                   // a JSON string that contains the JSON text
	ArgsObject                 // an object
	ArgsInput                  // free text, which rules match as member "input"
)

// NewPastCall returns a call of a history.
func NewPastCall(id stopgate.CallID, tool stopgate.ToolName, args jsonstream.Value, form ArgsForm) PastCall {
	return PastCall{Call: id, Tool: tool, args: args, form: form}
}

// HasArgs reports whether the history holds the arguments of the call.
func (p *PastCall) HasArgs() bool { return p.form != ArgsNone }

// Args returns the arguments of the call as JSON text. Absent arguments are an empty
// object, as they are when a call is released (A14).
func (p *PastCall) Args() []byte {
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

// Text returns the text of the result: its string, the joined text of its parts, or else
// its JSON.
func (r *PastResult) Text() []byte {
	content := r.Content
	if r.Inner.IsValid() {
		content = r.Inner
	}
	switch content.Kind() {
	case jsonstream.String:
		return content.AppendText(nil)
	case jsonstream.Array:
		var text []byte
		for part := range content.Elements() {
			inner, ok := part.Get("text")
			if !ok || inner.Kind() != jsonstream.String {
				return content.Raw()
			}
			if len(text) > 0 {
				text = append(text, '\n')
			}
			text = inner.AppendText(text)
		}
		return text
	}
	return content.Raw()
}

// Replace adds the edit that replaces the result by text.
func (r *PastResult) Replace(edits *Edits, text []byte) {
	if !r.Content.IsValid() {
		return // the result has no content that the model could read
	}
	quoted := jsonstream.AppendQuote(nil, text)
	if r.WrapText != nil {
		quoted = r.WrapText(quoted)
	}
	edits.Replace(r.Content, quoted)
}

// PastCalls collects the calls of a history and assigns results to them. It collects the texts of
// the conversation too, in their order.
type PastCalls struct {
	Calls []PastCall
	Texts []Text
	index map[stopgate.CallID]int
}

// Add appends a call.
func (l *PastCalls) Add(p PastCall) {
	if l.index == nil {
		l.index = make(map[stopgate.CallID]int)
	}
	l.index[p.Call] = len(l.Calls)
	l.Calls = append(l.Calls, p)
}

// AddAlias makes the last call known by a second id.
func (l *PastCalls) AddAlias(id stopgate.CallID) {
	if id != "" && len(l.Calls) > 0 {
		l.index[id] = len(l.Calls) - 1
	}
}

// StartMessage starts a message with calls, in a dialect in which results belong to the
// calls of the nearest preceding message.
func (l *PastCalls) StartMessage() { clear(l.index) }

// AddResult adds a result to its call. A result of an unknown call gets an entry of its
// own.
func (l *PastCalls) AddResult(id stopgate.CallID, r PastResult) { l.result(PastCall{Call: id}, r) }

// AddItemResult is like [PastCalls.AddResult] for a result that may name the item of the
// call.
func (l *PastCalls) AddItemResult(id stopgate.CallID, r PastResult) {
	l.result(PastCall{Call: id, MaybeItem: true}, r)
}

func (l *PastCalls) result(of PastCall, r PastResult) {
	at, ok := l.index[of.Call]
	if !ok {
		at = len(l.Calls)
		l.Add(of)
	}
	l.Texts = append(l.Texts, Text{Source: flow.Tool, Call: at, Result: len(l.Calls[at].Results)})
	l.Calls[at].Results = append(l.Calls[at].Results, r)
}

// Hints identify the conversation to which a request belongs.
type Hints struct {
	UserID           string // metadata.user_id of Anthropic
	Conversation     string // conversation of the Responses API
	PreviousResponse string // id of the response that the request continues
	CacheKey         string // prompt_cache_key
	Unstored         bool   // the provider does not store the response: it cannot be continued by its id
	// OpeningHash identifies the conversation by its system text and first user message; ""
	// if it has no user message.
	OpeningHash string
	// UserMessageHash identifies the latest message of the user; "" if there is none.
	UserMessageHash string
}

// HistoryHash computes the hashes of Hints from the messages of a history, in their order.
// It reads only their text, because clients move cache marks between requests.
type HistoryHash struct {
	opening      hash.Hash
	openingDone  bool // the first user message was added
	userMessages int
	newest       [sha256.Size]byte
}

// System adds a system text. Texts after the first user message are ignored.
func (s *HistoryHash) System(content jsonstream.Value) {
	if !s.openingDone {
		s.write(s.openingHash(), "system", content)
	}
}

// User adds a message of the user.
func (s *HistoryHash) User(content jsonstream.Value) {
	if !s.openingDone {
		s.write(s.openingHash(), "user", content)
		s.openingDone = true
	}
	s.userMessages++
	h := sha256.New()
	s.write(h, strconv.Itoa(s.userMessages), content)
	h.Sum(s.newest[:0])
}

func (s *HistoryHash) openingHash() hash.Hash {
	if s.opening == nil {
		s.opening = sha256.New()
	}
	return s.opening
}

// write adds the text of a message or of its parts with length prefixes, so that different
// lists of texts never have the same input.
func (s *HistoryHash) write(h hash.Hash, who string, content jsonstream.Value) {
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

// Hints returns the two hashes. more is added to the hash of the latest user message where
// its text does not identify it.
func (s *HistoryHash) Hints(more string) (h Hints) {
	if s.openingDone {
		h.OpeningHash = hex.EncodeToString(s.opening.Sum(nil)[:16])
		sum := sha256.Sum256(append(s.newest[:], more...))
		h.UserMessageHash = hex.EncodeToString(sum[:16])
	}
	return h
}
