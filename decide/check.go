package decide

import (
	"net/http"

	"github.com/stopgate/stopgate"
)

// check answers POST /v1/check: what the policy says about a call, without record,
// question or consequence (DECISIONS S43).
func (s *Server) check(w http.ResponseWriter, r *http.Request, who caller) *problem {
	call, args, bad := wholeCall(w, r, who)
	if bad != nil {
		return bad
	}
	e := s.options.Program().Bind(call).Evaluate()
	e.Feed(args)
	v := e.Close(stopgate.Ended)
	writeJSON(w, http.StatusOK, struct {
		Tool stopgate.ToolName `json:"tool"`
		Verdict
		Bytes int `json:"bytes"`
	}{call.Tool, verdictOf(v), len(args)})
	return nil
}
