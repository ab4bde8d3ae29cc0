package decide

import (
	"net/http"

	"github.com/stopgate/stopgate/gate"
)

// probes serve the health of the gate, without a token.
type probes struct{ gate *gate.Gate }

// health handles GET /healthz: the process is running.
func (s *probes) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.probed("ok"))
}

// ready handles GET /readyz: the gate can allow calls. A gate that can only deny is not ready.
func (s *probes) ready(w http.ResponseWriter, _ *http.Request) {
	if h := s.gate.Health(); h.Failing() {
		unavailable("the gate's records or ports").write(w)
		return
	}
	writeJSON(w, http.StatusOK, s.probed("ready"))
}

// readiness is the body of a readiness response.
type readiness struct {
	Status   string `json:"status"`
	Lockdown bool   `json:"lockdown"` // a lockdown is ordered and not a failure of the gate
}

func (s *probes) probed(status string) readiness {
	return readiness{status, s.gate.Lockdown().Active()}
}
