// Package script describes the answers of the replay model. The provider APIs render an [Answer] as
// their providers would send it.
//
//	format := registry.Named("anthropic").Script
//	err := format.Stream(&script.Answer{Turn: script.Turn{Say: "Hello."}, Model: "m"}, emit)
package script

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/stopgate/stopgate/jsonstream"
)

// A Turn is one response of the model: text, then calls.
type Turn struct {
	Say   string
	Calls []Call
}

// A Call is a tool call of a turn.
type Call struct {
	Tool string
	Args string // JSON text, members in the order of the script
}

// Emit sends one event: its bytes, and the number and the bytes of the tokens in it.
type Emit func(event []byte, tokens, size int) error

// Format renders answers in one API.
type Format struct {
	// Folder is the name of the folder of its recordings.
	Folder string
	// Stream renders an answer as a stream, Body as one JSON text.
	Stream func(a *Answer, emit Emit) error
	Body   func(a *Answer) []byte
	// Error is the format of an error body, with a verb for the quoted message and one for the type
	// of the error.
	Error string
	// Answered counts the responses of the model in the history of a request.
	Answered func(request jsonstream.Value) int
}

// Answer is a turn with the parameters of its rendering.
type Answer struct {
	Turn
	Model   string
	Step    int // which response of the conversation
	Usage   bool
	Store   bool // the client may continue the response by its id
	Prompt  int  // tokens of the request, roughly
	Created int64
}

// Size returns the number of bytes that a model would have to generate.
func (a *Answer) Size() int64 {
	n := len(a.Say)
	for _, c := range a.Calls {
		n += len(c.Args)
	}
	return int64(n)
}

// Tokens returns the number of tokens that a model would report for the turn.
func (a *Answer) Tokens() int {
	n := 0
	for range Pieces(a.Say, 1) {
		n++
	}
	for _, c := range a.Calls {
		for range Pieces(c.Args, 1) {
			n++
		}
	}
	return n
}

// ID returns the id of a part of the response; equal scripts have equal ids.
func (a *Answer) ID(prefix, part string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", a.Model, a.Step, part))
	return prefix + hex.EncodeToString(sum[:12])
}

// CallID returns the id of the i-th call.
func (a *Answer) CallID(prefix string, i int) string { return a.ID(prefix, fmt.Sprintf("call %d", i)) }

// Quote encodes a JSON string.
func Quote(s string) []byte { return jsonstream.AppendQuote(nil, s) }

// Messages counts the messages of a role in a list.
func Messages(list jsonstream.Value, role string) int {
	n := 0
	for m := range list.Elements() {
		if r, _ := m.Get("role"); r.IsText(role) {
			n++
		}
	}
	return n
}
