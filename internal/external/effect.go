package external

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/jsonstream"
)

// effect is the answer about a part of an exchange.
type effect struct {
	decides bool // it has output of its own; otherwise the part passes unchanged
	output  []output
	finish  bool   // the output of the policy ends here
	stop    bool   // so does the response
	silent  bool   // the client reads nothing in place of a dropped call
	scratch []byte // the scratchpad after the hook, nil for no change
	events  []events.Event
	reject  *events.Rejection
	body    []byte // the request or response instead
}

// output is one part of the output: a text, or the call that the hook is about.
type output struct {
	call      bool
	text      string
	replaces  bool // arguments take the place of those of the model
	arguments string
}

// streamMembers are the members of answers to the hooks of a stream that have output.
var streamMembers = []string{"output", "finish", "stop"}

// membersOf are the members of an answer to a hook, in addition to scratch and events.
var membersOf = map[string][]string{
	"request": {"request", "reject"}, "response": {"response"}, "stream_start": streamMembers, "content_delta": streamMembers,
	"content_complete": streamMembers, "tool_call_delta": streamMembers, "tool_call_complete": append([]string{"silent"}, streamMembers...),
	"finish_reason": streamMembers,
}

// effectOf returns the function that reads answers to a hook. A member that the hook does not have
// is unknown.
func effectOf(hook string) func(*answer) (effect, string, stopgate.Code) {
	return func(a *answer) (effect, string, stopgate.Code) { return a.effect(membersOf[hook]) }
}

// effect reads an answer about a part of an exchange.
func (a *answer) effect(members []string) (e effect, word string, code stopgate.Code) {
	for _, name := range members {
		switch name {
		case "output":
			if out := a.get(name, jsonstream.Array); out.IsValid() {
				e.decides = true
				for v := range out.Elements() {
					e.output = append(e.output, a.output(v))
				}
			}
		case "finish":
			e.finish = a.flag(name)
		case "stop":
			e.stop = a.flag(name)
		case "silent":
			e.silent = a.flag(name)
		case "request", "response":
			if v := a.get(name, jsonstream.Object); v.IsValid() {
				e.body = slices.Clone(v.Raw())
			}
		case "reject":
			if v := a.get(name, jsonstream.Object); v.IsValid() {
				e.reject = a.rejection(v)
			}
		}
	}
	if s := a.get("scratch", jsonstream.Object); s.IsValid() {
		if e.scratch = jsonstream.AppendCanonical(nil, s); len(e.scratch) > maxScratch {
			a.fail("scratch is too long")
		}
	}
	if list := a.get("events", jsonstream.Array); list.IsValid() {
		for v := range list.Elements() {
			e.events = append(e.events, a.event(v))
		}
	}
	switch {
	case e.reject != nil:
		return e, "rejected", stopgate.CodeRequestRejected
	case e.decides, e.body != nil, e.finish, e.stop:
		return e, "changed", ""
	}
	return e, "unchanged", ""
}

// flag reads a truth value, false if it is missing.
func (a *answer) flag(name string) bool {
	return a.get(name, jsonstream.True, jsonstream.False).Kind() == jsonstream.True
}

// members reads the members of an object; the names are those that it may have.
func (a *answer) members(v jsonstream.Value, names ...string) map[string]jsonstream.Value {
	all := map[string]jsonstream.Value{}
	if v.Kind() != jsonstream.Object {
		a.fail("want an object")
		return all
	}
	for key, member := range v.Members() {
		name := key.Text()
		if !slices.Contains(names, name) {
			a.fail("unknown member")
		}
		all[name] = member
	}
	return all
}

// output reads one part of the output.
func (a *answer) output(v jsonstream.Value) (o output) {
	m := a.members(v, "text", "call", "arguments")
	text, isText := m["text"]
	_, isCall := m["call"]
	arguments, replaces := m["arguments"]
	switch {
	case isText && !isCall && !replaces && text.Kind() == jsonstream.String:
		o.text = text.Text()
	case isCall && !isText && m["call"].Kind() == jsonstream.True && (!replaces || arguments.Kind() == jsonstream.String):
		o.call, o.replaces, o.arguments = true, replaces, arguments.Text()
	default:
		a.fail("output")
	}
	return o
}

// rejection reads the refusal of a request.
func (a *answer) rejection(v jsonstream.Value) *events.Rejection {
	m := a.members(v, "status", "message")
	r := &events.Rejection{Message: m["message"].Text()}
	if status, ok := m["status"]; ok {
		n, whole := number(status)
		if !whole || n < 400 || n > 499 || n != float64(int(n)) {
			a.fail("status")
		}
		r.Status = int(n)
	}
	if r.Message == "" || !presentable(r.Message, maxSentence) {
		a.fail("message")
	}
	return r
}

// event reads an event for subscribers.
func (a *answer) event(v jsonstream.Value) (e events.Event) {
	m := a.members(v, "type", "summary", "severity", "details")
	e.Type, e.Summary = m["type"].Text(), m["summary"].Text()
	if e.Type == "" || !presentable(e.Type, maxVersion) || !presentable(e.Summary, maxSentence) {
		a.fail("event")
	}
	switch s, given := m["severity"]; {
	case !given, s.IsText("info"):
	case s.IsText("warning"):
		e.Severity = events.Warning
	case s.IsText("error"):
		e.Severity = events.Error
	default:
		a.fail("severity")
	}
	if d, given := m["details"]; given {
		e.Details = map[string]any{}
		if d.Kind() != jsonstream.Object {
			a.fail("details")
			return e
		}
		for key, value := range d.Members() {
			switch n, isNumber := number(value); {
			case isNumber:
				e.Details[key.Text()] = n
			case value.Kind() == jsonstream.String && presentable(value.Text(), maxSentence):
				e.Details[key.Text()] = value.Text()
			case value.Kind() == jsonstream.Null:
			default:
				a.fail("details")
			}
		}
	}
	return e
}
