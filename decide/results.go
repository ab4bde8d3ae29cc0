package decide

import (
	"errors"
	"net/http"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// result handles POST /v1/calls/{id}/result: the result of an allowed call. The response contains
// the result for the model.
func (s *callRoutes) result(w http.ResponseWriter, r *http.Request, who caller) *problem {
	m, bad := members(w, r, "data", "failed", "absent")
	if bad != nil {
		return bad
	}
	data, bad := text(m, "data", false)
	if bad != nil {
		return bad
	}
	failed, flagged, bad := boolean(m, "failed")
	if bad != nil {
		return bad
	}
	absent, _, bad := boolean(m, "absent")
	if bad != nil {
		return bad
	}
	p := s.calls.find(stopgate.ProposalID(r.PathValue("id")), who)
	if p == nil {
		return notFound("no call of yours has this id, or it was long ago")
	}
	d, err := s.gate.Observe(r.Context(), stopgate.Result{
		Proposal: stopgate.ProposalID(r.PathValue("id")), Call: p.call.ID, Session: p.call.Session, Principal: who.name, Tool: p.call.Tool,
		Conversation: p.call.Conversation, Failed: failed, Flagged: flagged, Absent: absent, Data: []byte(data), Observed: who.scopes&Observe != 0,
	})
	switch {
	case errors.Is(err, gate.ErrUnmatched):
		return &problem{Status: http.StatusConflict, Code: string(stopgate.CodeUnmatchedResult), Detail: "the call was not allowed, or its result came already"}
	case err != nil:
		return unavailable("the store")
	}
	writeJSON(w, http.StatusOK, struct {
		Mode      stopgate.Mode     `json:"mode"`
		Code      stopgate.Code     `json:"code,omitempty"`
		Delivered bool              `json:"delivered"`
		Data      string            `json:"data"`
		Envelope  stopgate.Envelope `json:"envelope"`
	}{d.Mode, d.Code, d.Delivered(), string(d.Data), d.Envelope()})
	return nil
}

// handoff handles POST /v1/handoffs: it decides whether one agent can hand control to another.
func (s *callRoutes) handoff(w http.ResponseWriter, r *http.Request, who caller) *problem {
	m, bad := members(w, r, "from", "to", "session", "turn", "call_id", "payload")
	if bad != nil {
		return bad
	}
	var fields [5]string
	for i, name := range []string{"from", "to", "session", "turn", "call_id"} {
		if fields[i], bad = nameMember(m, name, name == "to", maxName); bad != nil {
			return bad
		}
	}
	var payload []byte
	if v, ok := m["payload"]; ok {
		payload = append(payload, v.Raw()...)
	}
	out, err := s.gate.Handoff(r.Context(), gate.HandoffCall{
		From: stopgate.AgentName(fields[0]), To: stopgate.AgentName(fields[1]), Session: stopgate.SessionID(fields[2]),
		Turn: stopgate.TurnID(fields[3]), ID: stopgate.CallID(fields[4]), Principal: who.name, Groups: who.groups, Surface: stopgate.SurfaceDecide, Payload: payload,
	})
	if err != nil && out.Proposal == "" {
		return unavailable("the gate")
	}
	a := decisionOf(&stopgate.Call{Tool: "handoff", Session: stopgate.SessionID(fields[2])}, int64(len(payload)), out)
	if out.Allowed() {
		e := a.Envelope.WithData(payload)
		a.Envelope = &e
	}
	writeJSON(w, http.StatusOK, a)
	return nil
}
