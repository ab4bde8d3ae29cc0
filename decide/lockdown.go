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

// lockdownRoutes serves the lockdown of the gate.
type lockdownRoutes struct {
	gate  *gate.Gate
	store gate.Lockdowns
}

func (s *lockdownRoutes) add(route addRoute) {
	route("GET /v1/lockdown", Operate, s.lockdown)
	route("PUT /v1/lockdown", Operate, s.lock)
	route("DELETE /v1/lockdown", Operate, s.lift)
}

// lockdown handles GET /v1/lockdown: the current lockdown of the gate.
func (s *lockdownRoutes) lockdown(w http.ResponseWriter, _ *http.Request, _ caller) *problem {
	now := s.gate.Lockdown()
	writeJSON(w, http.StatusOK, order{now.Active(), now})
	return nil
}

// lock handles PUT /v1/lockdown: from now on every call is denied (S59).
func (s *lockdownRoutes) lock(w http.ResponseWriter, r *http.Request, who caller) *problem {
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
func (s *lockdownRoutes) lift(w http.ResponseWriter, r *http.Request, who caller) *problem {
	return s.order(w, r, who, gate.Lockdown{})
}

// order starts or ends a lockdown. If the store or the audit log fails, the problem reports it, and
// the client must read the state again.
func (s *lockdownRoutes) order(w http.ResponseWriter, r *http.Request, who caller, l gate.Lockdown) *problem {
	if err := s.gate.Order(r.Context(), s.store, l, string(who.name)); err != nil {
		return unavailable("the store of orders, or the records,")
	}
	return s.lockdown(w, r, who)
}
