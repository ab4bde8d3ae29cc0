package decide

import "net/http"

// Description describes a gate to programs that look for one with the policy that they need.
type Description struct {
	// Version is the version of the program.
	Version string `json:"version"`
	// Project is the directory whose policy files apply.
	Project string `json:"project"`
	// Files are the policy files in force, without those of a policy bundle.
	Files []PolicyFile `json:"files"`
	// Tools is the hash of a file with definitions of tools, "" for none.
	Tools string `json:"tools,omitempty"`
	// Policy is the hash of the policy.
	Policy string `json:"policy"`
	// Programs reports that a program may answer the questions of its own sessions.
	Programs bool `json:"programs"`
}

// PolicyFile is a policy file of a gate.
type PolicyFile struct {
	Path    string `json:"path"`    // absolute, except that of the built-in policy
	SHA256  string `json:"sha256"`  // of its text
	Trusted bool   `json:"trusted"` // otherwise it may only tighten
}

// gateRoute serves the description of the gate on the Unix socket.
type gateRoute struct{ describe func() Description }

func (s *gateRoute) add(route addRoute) { route("GET /v1/gate", onSocket, s.gate) }

func (s *gateRoute) gate(w http.ResponseWriter, _ *http.Request, _ caller) *problem {
	writeJSON(w, http.StatusOK, s.describe())
	return nil
}
