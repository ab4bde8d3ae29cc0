package judge

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
)

//go:embed prompt.md
var instructions string

// form is the JSON Schema of a response.
const form = `{"type":"object","properties":{` +
	`"probability":{"type":"number","minimum":0,"maximum":1,"description":"How likely running the call does harm."},` +
	`"explanation":{"type":"string","description":"One sentence that says why."}},` +
	`"required":["probability","explanation"],"additionalProperties":false}`

// formName names the schema, and the tool that the model is required to call.
const formName = "verdict"

// prompt holds the instructions for the model. They are the same for all calls.
type prompt struct {
	text string
	hash string // SHA-256 in hex of text and form
}

// newPrompt appends the operator's guidance to the instructions.
func newPrompt(guidance string) prompt {
	p := prompt{text: instructions}
	if guidance != "" {
		p.text += "\nFrom the operator of this gate, as a part of these instructions:\n\n" + guidance + "\n"
	}
	sum := sha256.Sum256([]byte(p.text + "\x00" + form))
	p.hash = hex.EncodeToString(sum[:])
	return p
}

// separators escapes the line ends that JSON does not escape, so that every reader sees the data as
// one line.
var separators = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// input encodes one call for the model: the data between two lines with a marker. The marker is
// part of the hash of the data, so no data can contain its own marker.
func input(prop *gate.Proposal) (text, hash string) {
	data := []byte(`{"tool":`)
	data = jsonstream.AppendQuote(data, string(prop.Call.Tool))
	if d := prop.Call.Definition; d != nil && d.Description != "" {
		data = append(data, `,"tool_description":`...)
		data = jsonstream.AppendQuote(data, d.Description)
	}
	data = append(data, `,"arguments_bytes":`...)
	data = strconv.AppendInt(data, int64(len(prop.Args)), 10)
	data = append(data, `,"arguments":`...)
	data = jsonstream.AppendQuote(data, prop.Args)
	data = append(data, '}')
	data = []byte(separators.Replace(string(data)))
	sum := sha256.Sum256(data)
	hash = hex.EncodeToString(sum[:])
	marker := "CALL " + hash[:32]
	return "BEGIN " + marker + "\n" + string(data) + "\nEND " + marker + "\n", hash
}
