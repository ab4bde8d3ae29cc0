package conversation

import "strings"

// Role is the author of a message.
type Role uint8

// The roles.
const (
	FromUser  Role = iota + 1
	FromModel      // Parts
	FromTools      // Results, one for each call of the previous message, in order
)

// Message is one message of a history as models receive it.
type Message struct {
	Role    Role
	Text    string
	Parts   []Part
	Results []CallResult
}

// CallResult is the result of a call as the model receives it.
type CallResult struct {
	ID, Tool, Text string
	Failed         bool
}

// Results of calls whose process was killed.
const (
	lostText   = "[stopgate] The agent was stopped before this call ran. It did not run."
	brokenText = "[stopgate] The agent was stopped while this call ran. Nobody knows how far it came: look before you repeat it."
)

// Messages converts a log to a history: consecutive messages of the person are joined, and every
// call gets a result.
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

// reply appends a response and the results of its calls, which are in rest before the next
// response.
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

// outcome returns the result of a call, and its arguments if they differ from the proposed ones.
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

// Open reports whether the model is next: the log ends after a message or after results.
func Open(entries []Entry) bool {
	messages := Messages(entries)
	return len(messages) > 0 && messages[len(messages)-1].Role != FromModel
}
