package gemini

import (
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// readHistory finds the calls, results and messages of a history.
func readHistory(r *provider.Request, root jsonstream.Value) {
	var past provider.PastCalls
	var hashes provider.HistoryHash
	system, _ := wire.Get(root, "systemInstruction")
	parts, _ := wire.Get(system, "parts")
	hashes.System(parts)
	addTexts(&past, flow.System, parts)
	contents, _ := wire.Get(root, "contents")
	var names order
	for m := range contents.Elements() {
		role, _ := m.Get("role")
		parts, _ := wire.Get(m, "parts")
		switch {
		case role.IsText("model"):
			if hasPart(parts, "functionCall") {
				past.StartMessage()
				names = order{}
				readCalls(&past, parts, names)
			}
			readProviderResults(&past, parts)
		case hasPart(parts, "functionResponse"):
			readResults(&past, parts, names)
		default:
			hashes.User(parts)
			source := flow.Tool
			if !provider.Present(role) || role.IsText("user") {
				source = flow.User
			}
			addTexts(&past, source, parts)
		}
	}
	for i := range past.Calls {
		if unnumbered(past.Calls[i].Call) {
			past.Calls[i].Call = "" // as it was released
		}
	}
	hints := hashes.Hints("")
	r.History, r.Texts, r.Hints.OpeningHash, r.Hints.UserMessageHash = past.Calls, past.Texts, hints.OpeningHash, hints.UserMessageHash
}

// addTexts adds a message: a list of parts, or one. Media is content that the gate cannot read.
func addTexts(past *provider.PastCalls, source flow.Source, parts jsonstream.Value) {
	var texts []jsonstream.Value
	var after []func()
	add := func(part jsonstream.Value) {
		text, _ := part.Get("text")
		kind, _ := wire.KindOf(part)
		_, thought := wire.Get(part, "thought") // no part of what a person wrote
		_, data := wire.Get(part, "inlineData")
		_, file := wire.Get(part, "fileData")
		switch {
		case data || file:
			after = append(after, past.AddUnseen)
		case kind == wire.Plain && !thought && text.Kind() == jsonstream.String:
			texts = append(texts, text)
		case kind == wire.Plain:
			after = append(after, func() { past.AddForeign(text) })
		default:
			after = append(after, func() { past.AddForeign(part); past.AddUnseen() })
		}
	}
	if parts.Kind() == jsonstream.Object {
		add(parts)
	}
	for part := range parts.Elements() {
		add(part)
	}
	past.AddMessage(source, texts...)
	for _, f := range after {
		f()
	}
}

// readProviderResults adds the results of tools that ran at the provider, from a message of the
// model. A part of an unknown kind may be one.
func readProviderResults(past *provider.PastCalls, parts jsonstream.Value) {
	for part := range parts.Elements() {
		switch kind, name := wire.KindOf(part); {
		case name == "codeExecutionResult":
			past.AddProviderResult(part, true)
		case name == "toolResponse", kind == wire.Unknown:
			past.AddProviderResult(part, false)
		}
	}
}

func hasPart(parts jsonstream.Value, name string) bool {
	for part := range parts.Elements() {
		if _, ok := wire.Get(part, name); ok {
			return true
		}
	}
	return false
}

// order counts the calls of a message without id, and their results, by tool: the n-th result of a
// tool belongs to its n-th call.
type order map[string]*[2]int

const (
	ofCalls = iota
	ofResults
)

// id returns the id of a call or a result. Without one it is made of name and number. No provider
// uses ids that start with a zero byte.
func (o order) id(v jsonstream.Value, of int) (id stopgate.CallID, name string) {
	text, _ := wire.Get(v, "id")
	tool, _ := wire.Get(v, "name")
	name = tool.Text()
	if text.Text() != "" {
		return stopgate.CallID(text.Text()), name
	}
	if o[name] == nil {
		o[name] = new([2]int)
	}
	o[name][of]++
	return stopgate.CallID("\x00" + strconv.Itoa(o[name][of]) + " " + name), name
}

func unnumbered(id stopgate.CallID) bool { return len(id) > 0 && id[0] == 0 }

func readCalls(past *provider.PastCalls, parts jsonstream.Value, names order) {
	for part := range parts.Elements() {
		call, ok := wire.Get(part, "functionCall")
		if !ok {
			continue
		}
		id, name := names.id(call, ofCalls)
		args, _ := wire.Get(call, "args")
		form := provider.ArgsObject
		if !args.IsValid() {
			form = provider.ArgsText // absent: an empty object
		}
		past.Add(provider.NewPastCall(id, stopgate.ToolName(name), args, form))
	}
}

// readResults adds the results of a message. A result is an object; its member error marks a
// failure.
func readResults(past *provider.PastCalls, parts jsonstream.Value, names order) {
	if names == nil {
		names = order{}
	}
	for part := range parts.Elements() {
		v, ok := wire.Get(part, "functionResponse")
		if !ok {
			addTexts(past, flow.Tool, part) // written by the client, not by the user
			continue
		}
		id, _ := names.id(v, ofResults)
		response, _ := wire.Get(v, "response")
		_, failed := wire.Get(response, "error")
		_, output := wire.Get(response, "output")
		_, hasMedia := wire.Get(v, "parts")
		var inner jsonstream.Value
		if response.Len() == 1 { // most clients send the result as one member
			for _, value := range response.Members() {
				inner = value
			}
		}
		past.AddResult(id, provider.PastResult{
			Content: response, Inner: inner, Failed: failed, HasStatus: failed || output, Structured: true, Opaque: hasMedia,
			WrapText: func(quoted []byte) []byte { return append(append([]byte(`{"error":`), quoted...), '}') },
		})
	}
}
