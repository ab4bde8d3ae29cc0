package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
)

// emitFunc sends one event: its bytes, and the number and the bytes of the tokens in it.
type emitFunc func(event []byte, tokens, size int) error

// dialect renders a scripted turn as a provider's response.
type dialect struct {
	name   string
	folder string // of its recordings
	stream func(a *scripted, emit emitFunc) error
	body   func(a *scripted) []byte
	err    string // format of an error body: quoted message, error type
}

var dialects = map[string]dialect{
	"/v1/chat/completions": {
		name: "openai-chat", folder: "openai-chat", stream: streamChat, body: bodyChat,
		err: `{"error":{"message":%s,"type":%q,"param":null,"code":null}}`,
	},
	"/v1/responses": {
		name: "openai-responses", folder: "openai-responses", stream: streamResponses, body: bodyResponses,
		err: `{"error":{"message":%s,"type":%q,"param":null,"code":null}}`,
	},
	"/v1/messages": {
		name: "anthropic", folder: "anthropic-messages", stream: streamAnthropic, body: bodyAnthropic,
		err: `{"type":"error","error":{"message":%s,"type":%q}}`,
	},
}

func (d dialect) fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	kind := "invalid_request_error"
	if status == http.StatusNotFound {
		kind = "not_found_error"
	}
	fmt.Fprintf(w, d.err, quote(message), kind)
}

// scripted is a turn with what its rendering needs.
type scripted struct {
	Turn
	model   string
	step    int // which response of the conversation
	usage   bool
	store   bool // the client may continue the response by its id
	prompt  int  // tokens of the request, roughly
	created int64
}

// size is the number of bytes that a model would have to generate.
func (a *scripted) size() int64 {
	n := len(a.Say)
	for _, c := range a.Calls {
		n += len(c.Args)
	}
	return int64(n)
}

// tokens is the number of tokens that a model would report for the turn.
func (a *scripted) tokens() int {
	n := 0
	for range pieces(a.Say, 1) {
		n++
	}
	for _, c := range a.Calls {
		for range pieces(c.Args, 1) {
			n++
		}
	}
	return n
}

// id returns the id of a part of the response; equal scripts have equal ids.
func (a *scripted) id(prefix, part string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", a.model, a.step, part))
	return prefix + hex.EncodeToString(sum[:12])
}

func (a *scripted) callID(prefix string, i int) string {
	return a.id(prefix, fmt.Sprintf("call %d", i))
}
