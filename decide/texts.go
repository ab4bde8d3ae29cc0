package decide

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
)

// addTexts handles POST /v1/sessions/{id}/texts: the program that runs the agent reports messages,
// and results of calls that the gate does not know. Neither a call nor its result can do that.
func (s *sessionRoutes) addTexts(w http.ResponseWriter, r *http.Request, who caller) *problem {
	m, bad := members(w, r, "texts", "known", "whole", "conversation")
	if bad != nil {
		return bad
	}
	add, bad := textsOf(m)
	if bad != nil {
		return bad
	}
	conversation, bad := nameMember(m, "conversation", false, maxName)
	if bad != nil {
		return bad
	}
	of, bad := s.target(r, who)
	if bad != nil {
		return bad
	}
	err := s.gate.AddTexts(r.Context(), of, conversation, add)
	switch {
	case errors.Is(err, gate.ErrNoConversation):
		return badRequest("too_long", "the session, its principal and the conversation have names of 1,024 bytes together")
	case errors.Is(err, gate.ErrTextsLost):
		return &problem{Status: http.StatusConflict, Code: "texts_lost", Detail: "earlier texts of the conversation are missing: send all of them, with whole"}
	case err != nil:
		return unavailable("the store of texts")
	}
	writeJSON(w, http.StatusOK, map[string]bool{"read": s.gate.ReadsTexts()})
	return nil
}

// knowledge are the sources that can be reported completely.
var knowledge = map[string]flow.Knowledge{"user": flow.KnowsUser, "system": flow.KnowsSystem, "results": flow.KnowsResults}

// textsOf decodes the texts of a request.
func textsOf(m map[string]jsonstream.Value) (add gate.Texts, p *problem) {
	if add.Whole, _, p = boolean(m, "whole"); p != nil {
		return add, p
	}
	if known, ok := m["known"]; ok {
		if known.Kind() != jsonstream.Array {
			return add, badRequest("member_type", "known must be an array")
		}
		for v := range known.Elements() {
			k := knowledge[v.Text()]
			if v.Kind() != jsonstream.String || k == 0 {
				return add, badRequest("member_type", "known has user, system and results")
			}
			add.Known |= k
		}
	}
	list, ok := m["texts"]
	if ok && list.Kind() != jsonstream.Array {
		return add, badRequest("member_type", "texts must be an array")
	}
	if !ok {
		return add, nil
	}
	for v := range list.Elements() {
		one, bad := textOf(v)
		if bad != nil {
			bad.Detail = "texts[" + strconv.Itoa(len(add.List)) + "]: " + bad.Detail
			return add, bad
		}
		add.List = append(add.List, one)
	}
	return add, nil
}

// textOf decodes one text: a message, or a result, whose source is "tool". A result here is of a
// call that the gate did not release.
func textOf(v jsonstream.Value) (one gate.Text, p *problem) {
	if v.Kind() != jsonstream.Object {
		return one, badRequest("member_type", "a text must be an object")
	}
	m, p := object(v.Raw(), "source", "text", "id", "tool", "call_id")
	if p != nil {
		return one, p
	}
	var fields [4]string
	for i, name := range []string{"source", "id", "tool", "call_id"} {
		if fields[i], p = nameMember(m, name, name == "source", maxName); p != nil {
			return one, p
		}
	}
	written, p := text(m, "text", true)
	if p != nil {
		return one, p
	}
	switch source := flow.Source(fields[0]); source {
	case flow.User, flow.System:
		if fields[2]+fields[3] != "" {
			return one, badRequest("unknown_member", "a message has a source, a text and an id")
		}
		one.Message = &flow.Message{Source: source, Text: []byte(written), ID: fields[1]}
	case flow.Tool:
		if fields[1] != "" {
			return one, badRequest("unknown_member", "a result has a source, a text, a tool and a call_id")
		}
		one.Result = &flow.Result{Tool: stopgate.ToolName(fields[2]), Call: stopgate.CallID(fields[3]), Data: []byte(written)}
	default:
		return one, badRequest("member_type", "a source is user, system or tool")
	}
	return one, nil
}
