package client

import (
	"context"
	"net/http"
)

// Gate describes a gate of this machine.
type Gate struct {
	Version  string       `json:"version"`
	Project  string       `json:"project"` // the directory whose policy files apply
	Files    []PolicyFile `json:"files"`   // without those of a policy bundle
	Tools    string       `json:"tools"`   // SHA-256 of the file of tool definitions
	Policy   string       `json:"policy"`  // hash of the policy
	Programs bool         `json:"programs"`
}

// PolicyFile is a policy file in force.
type PolicyFile struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Trusted bool   `json:"trusted"` // otherwise it may only tighten
}

// Gate returns the description of the gate. Only its Unix socket has it.
func (c *Client) Gate(ctx context.Context) (Gate, error) {
	var g Gate
	if err := c.do(ctx, request{method: http.MethodGet, path: "/v1/gate"}, &g); err != nil {
		return Gate{}, err
	}
	return g, nil
}
