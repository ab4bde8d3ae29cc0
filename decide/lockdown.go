package decide

import (
	"net/http"
	"time"

	"github.com/stopgate/stopgate/gate"
)

// order is the JSON form of a lockdown. It has the members of `stopgate lockdown`.
type order struct {
	Locked bool `json:"locked"`
	gate.Lockdown
}

// lockdown handles GET /v1/lockdown: the current lockdown of the gate.
func (s *Server) lockdown(w http.ResponseWriter, _ *http.Request, _ caller) *problem {
	now := s.options.Gate.Lockdown()
	writeJSON(w, http.StatusOK, order{now.Active(), now})
	return nil
}

// lock handles PUT /v1/lockdown: from now on every call is denied (S59).
func (s *Server) lock(w http.ResponseWriter, r *http.Request, who caller) *problem {
	m, bad := members(w, r, "reason")
	if bad != nil {
		return bad
	}
	reason, bad := nameMember(m, "reason", false, maxReason)
	if bad != nil {
		return bad
	}
	return s.order(w, r, who, gate.Lockdown{Since: time.Now().UTC().Truncate(time.Microsecond), By: string(who.name), Reason: reason})
}

// lift handles DELETE /v1/lockdown.
func (s *Server) lift(w http.ResponseWriter, r *http.Request, who caller) *problem {
	return s.order(w, r, who, gate.Lockdown{})
}

// order starts or ends a lockdown. If the store or the audit log fails, the problem reports it, and
// the client must read the state again.
func (s *Server) order(w http.ResponseWriter, r *http.Request, who caller, l gate.Lockdown) *problem {
	if err := s.options.Gate.Order(r.Context(), s.options.Lockdowns, l, string(who.name)); err != nil {
		return unavailable("the store of orders, or the records,")
	}
	return s.lockdown(w, r, who)
}
