package decide

import (
	"net/http"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
)

// checkRoute serves checks of calls against the current policy.
type checkRoute struct{ program func() gate.Policy }

func (s *checkRoute) add(route addRoute) { route("POST /v1/check", Decide, s.check) }

// check handles POST /v1/check: it evaluates the policy for a call without recording it, asking for
// approval or changing state (S43). The member session_data replaces the session's data; without
// it, conditions on session data are uncertain.
func (s *checkRoute) check(w http.ResponseWriter, r *http.Request, who caller) *problem {
	call, args, m, bad := wholeCall(w, r, who, "session_data")
	if bad != nil {
		return bad
	}
	program := s.program()
	data, ok := m["session_data"]
	if ok && data.Kind() != jsonstream.Object {
		return badRequest("member_type", "session_data must be an object")
	}
	under := gate.Circumstances{Situation: program.SituationOf(call.Groups, data, nil)}
	e := program.RulesFor(call, under).Evaluate(nil)
	e.Feed(args)
	v := e.Close(stopgate.Ended)
	writeJSON(w, http.StatusOK, struct {
		Tool stopgate.ToolName `json:"tool"`
		verdictJSON
		Bytes int `json:"bytes"`
	}{call.Tool, verdictOf(v), len(args)})
	return nil
}
