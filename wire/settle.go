package wire

import "github.com/stopgate/stopgate"

// Settle finds what becomes of the n calls of a response: the arguments of those
// that may run and, for each of the others, the text that stands for it. What is
// not plainly allowed is denied: a call without an outcome or with two that
// differ, one that may not run, one without arguments or without a text.
func Settle(n int, outcomes []Release, may func(call int) bool) (args [][]byte, texts []string) {
	args, texts = make([][]byte, n), make([]string, n)
	given := make([]*Release, n)
	for i := range outcomes {
		o := &outcomes[i]
		if o.Call >= 0 && o.Call < n && (given[o.Call] == nil || !o.Allowed) {
			given[o.Call] = o
		}
	}
	for i, o := range given {
		switch {
		case o != nil && o.Allowed && len(o.Args) > 0 && may(i):
			args[i] = o.Args
		case o != nil && !o.Allowed && o.Text != "":
			texts[i] = o.Text
		default:
			texts[i] = DenialText("", false, "", stopgate.CodePolicyError)
		}
	}
	return args, texts
}

// Told is the result of a denied call for the model.
func Told(outcomes []Release, call int, text string) string {
	for i := range outcomes {
		if o := &outcomes[i]; o.Call == call && !o.Allowed && o.Text == text && o.Answer != "" {
			return o.Answer
		}
	}
	return text
}
