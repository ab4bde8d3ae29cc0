package decide

import (
	"net/http"
	"time"

	"github.com/stopgate/stopgate/gate"
)

// order is a lockdown as the API tells it: the members of `stopgate lockdown`.
type order struct {
	Locked bool `json:"locked"`
	gate.Lockdown
}

// lockdown answers GET /v1/lockdown: the order that the gate is under.
func (s *Server) lockdown(w http.ResponseWriter, _ *http.Request, _ caller) *problem {
	now := s.options.Gate.Lockdown()
	writeJSON(w, http.StatusOK, order{now.Stands(), now})
	return nil
}

// lock answers PUT /v1/lockdown: from now on everything is denied (DECISIONS S59).
func (s *Server) lock(w http.ResponseWriter, r *http.Request, who caller) *problem {
	m, bad := members(w, r, "reason")
	if bad != nil {
		return bad
	}
	reason, bad := short(m, "reason", false, maxReason)
	if bad != nil {
		return bad
	}
	return s.order(w, r, who, gate.Lockdown{Since: time.Now().UTC().Truncate(time.Microsecond), By: string(who.name), Reason: reason})
}

// lift answers DELETE /v1/lockdown.
func (s *Server) lift(w http.ResponseWriter, r *http.Request, who caller) *problem {
	return s.order(w, r, who, gate.Lockdown{})
}

// order gives an order or takes it back. Where the store or the records fail, the
// answer says so, and what holds is asked anew.
func (s *Server) order(w http.ResponseWriter, r *http.Request, who caller, l gate.Lockdown) *problem {
	if err := s.options.Gate.Order(r.Context(), s.options.Lockdowns, l, string(who.name)); err != nil {
		return unavailable("the store of orders, or the records,")
	}
	return s.lockdown(w, r, who)
}
