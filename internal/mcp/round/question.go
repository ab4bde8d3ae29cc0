package round

import (
	"fmt"
	"path/filepath"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// ApprovalKey is the key of the gateway's own input request. Servers cannot use keys with the
// prefix OwnKeys.
const (
	ApprovalKey = "stopgate.approval"
	OwnKeys     = "stopgate."
)

// Prompt formats the question for the client's user. Untrusted text in it is escaped (H14).
func Prompt(v gate.View) string {
	text := fmt.Sprintf("stopgate: may the tool %s run with these arguments?\n%s", v.Call.Tool, visible.Elide(visible.Text(v.Args), 2000))
	text += "\nWhy it asks: " + reason(v.Verdict)
	for _, missing := range v.Missing {
		text += "\n" + visible.Elide(visible.Text(missing), 2000)
	}
	return text
}

// reason returns the reason for the question: the policy's own reason or, failing that, the
// rule.
func reason(v stopgate.Verdict) string {
	switch {
	case v.Public != "" && v.Public != stopgate.CodeRuleMatched.Public():
		return visible.Text(v.Public)
	case v.Rule == nil:
		return "a rule of the policy wants a person to look at it"
	}
	return fmt.Sprintf("a rule of the policy wants a person to look at it (%s:%d)", visible.Text(filepath.Base(v.Rule.File)), v.Rule.Line)
}

// requestedSchema is the schema of the answer in an elicitation.
const requestedSchema = `"requestedSchema":{"type":"object","properties":{"decision":{"type":"string","enum":["allow","deny"]}},"required":["decision"]}`

// Elicitation returns the params of elicitation/create. mode is set for revisions that have modes.
func Elicitation(message string, mode bool) []byte {
	out := []byte("{")
	if mode {
		out = append(out, `"mode":"form",`...)
	}
	out = jsonstream.AppendQuote(append(out, `"message":`...), message)
	return append(append(append(out, ','), requestedSchema...), '}')
}

// InputRequired returns the result that asks the client's user. state is the encrypted state.
func InputRequired(message, state string) []byte {
	body := append([]byte(`{"resultType":"input_required","inputRequests":{"`+ApprovalKey+`":{"method":"elicitation/create","params":`), Elicitation(message, true)...)
	return append(jsonstream.AppendQuote(append(body, `}},"requestState":`...), state), '}')
}

// Input returns the answer in a repeated request.
func Input(m *jsonrpc.Message) (kind approve.Kind, ok bool) {
	inputs, _ := jsonrpc.MemberOf(m.Params, "inputResponses")
	answer, ok := inputs.Get(ApprovalKey)
	if !ok {
		return approve.No, false
	}
	// The result may be the value itself or its member "result".
	if inner, ok := jsonrpc.MemberOf(answer, "result"); ok {
		answer = inner
	}
	return Answer(answer), true
}

// Answer reads the result of an elicitation. Only action "accept" with decision "allow" approves.
func Answer(result jsonstream.Value) approve.Kind {
	content, ok := jsonrpc.MemberOf(result, "content")
	if ok && jsonrpc.TextOf(result, "action") == "accept" && jsonrpc.TextOf(content, "decision") == "allow" {
		return approve.Yes
	}
	return approve.No
}
