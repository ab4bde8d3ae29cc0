package decide

import (
	"net/http"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/eval"
)

// check answers POST /v1/check: what the policy says about a call, without record,
// question or consequence (DECISIONS S43). The member session_data takes the place of
// the session's own data; without it conditions on them are in doubt.
func (s *Server) check(w http.ResponseWriter, r *http.Request, who caller) *problem {
	call, args, m, bad := wholeCall(w, r, who, "session_data")
	if bad != nil {
		return bad
	}
	program := s.options.Program()
	var under eval.Circumstances
	if data, ok := m["session_data"]; ok {
		if data.Kind() != jsonstream.Object {
			return badRequest("member_type", "session_data must be an object")
		}
		under.Situation = program.Situation(data)
	}
	e := program.BindUnder(call, under).Evaluate()
	e.Feed(args)
	v := e.Close(stopgate.Ended)
	writeJSON(w, http.StatusOK, struct {
		Tool stopgate.ToolName `json:"tool"`
		Verdict
		Bytes int `json:"bytes"`
	}{call.Tool, verdictOf(v), len(args)})
	return nil
}
