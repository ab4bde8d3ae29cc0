package provider

import (
	"strings"

	"github.com/stopgate/stopgate"
)

// Settle maps the outcomes to the n calls of a response. args has the arguments of the
// calls that run, texts the replacement of each other call. Every call that is not
// explicitly allowed is denied: a call without an outcome or with two different ones, one
// for which allowed returns false, and one without arguments or without a text, unless it is
// silent: its text is empty.
func Settle(n int, outcomes []CallOutcome, allowed func(call int) bool) (args [][]byte, texts []string) {
	args, texts = make([][]byte, n), make([]string, n)
	byCall := make([]*CallOutcome, n)
	for i := range outcomes {
		o := &outcomes[i]
		if o.Call >= 0 && o.Call < n && (byCall[o.Call] == nil || !o.Allowed) {
			byCall[o.Call] = o
		}
	}
	for i, o := range byCall {
		switch {
		case o != nil && o.Allowed && len(o.Args) > 0 && allowed(i):
			args[i] = o.Args
		case o != nil && !o.Allowed && (o.Text != "" || o.Silent):
			texts[i] = o.Text
		default:
			texts[i] = DenialText("", false, "", stopgate.CodePolicyError)
		}
	}
	return args, texts
}

// JoinDenials joins the texts that replace denied calls. Calls that nothing replaces have none.
func JoinDenials(texts []string) string {
	shown := make([]string, 0, len(texts))
	for _, text := range texts {
		if text != "" {
			shown = append(shown, text)
		}
	}
	return strings.Join(shown, "\n")
}

// ResultText returns the result of a denied call for the model.
func ResultText(outcomes []CallOutcome, call int, text string) string {
	for i := range outcomes {
		if o := &outcomes[i]; o.Call == call && !o.Allowed && o.Text == text && o.Result != "" {
			return o.Result
		}
	}
	return text
}
