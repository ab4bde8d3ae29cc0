package conversation

import "strings"

// Role says who speaks.
type Role uint8

// The roles.
const (
	FromUser  Role = iota + 1
	FromModel      // Parts
	FromTools      // Results, one for each call of the message before, in its order
)

// Message is one turn of a history as models take it.
type Message struct {
	Role    Role
	Text    string
	Parts   []Part
	Results []CallResult
}

// CallResult is what a model hears of a call.
type CallResult struct {
	ID, Tool, Text string
	Failed         bool
}

// What a model hears of calls whose process died.
const (
	lostText   = "[stopgate] The agent was stopped before this call ran. It did not run."
	brokenText = "[stopgate] The agent was stopped while this call ran. Nobody knows how far it came: look before you repeat it."
)

// Messages makes a history of a log: messages of one person that follow each other are
// one message, and every call has its result.
func Messages(entries []Entry) []Message {
	var list []Message
	for i, e := range entries {
		switch e.Kind {
		case User:
			if n := len(list); n > 0 && list[n-1].Role == FromUser {
				list[n-1].Text += "\n\n" + e.Text
				continue
			}
			list = append(list, Message{Role: FromUser, Text: e.Text})
		case Reply:
			list = reply(list, e, entries[i+1:])
		}
	}
	return list
}

// reply adds an answer and the results of its calls, which stand in rest up to the next
// answer.
func reply(list []Message, e Entry, rest []Entry) []Message {
	m := Message{Role: FromModel}
	var results []CallResult
	for _, p := range e.Parts {
		switch {
		case p.Kind == Text && strings.TrimSpace(p.Text) == "":
			continue // some providers refuse it
		case p.Kind == Call:
			ran, r := outcome(len(results), p, rest)
			if ran != "" {
				p.Args = ran
			}
			results = append(results, r)
		}
		m.Parts = append(m.Parts, p)
	}
	if len(m.Parts) == 0 {
		return list
	}
	list = append(list, m)
	if len(results) > 0 {
		list = append(list, Message{Role: FromTools, Results: results})
	}
	return list
}

// outcome finds what became of a call, and what ran if it is not what was proposed.
func outcome(n int, p Part, rest []Entry) (args string, r CallResult) {
	r = CallResult{ID: p.ID, Tool: p.Tool, Text: lostText, Failed: true}
	for _, e := range rest {
		switch {
		case e.Kind == Reply:
			return args, r
		case e.Kind == Started && e.Call == n:
			args, r.Text = e.Args, brokenText
		case e.Kind == Result && e.Call == n:
			r.Text, r.Failed = e.Text, e.Failed
			return args, r
		}
	}
	return args, r
}

// Open reports whether the log ends where the model has to speak: behind a message or
// behind results.
func Open(entries []Entry) bool {
	messages := Messages(entries)
	return len(messages) > 0 && messages[len(messages)-1].Role != FromModel
}
