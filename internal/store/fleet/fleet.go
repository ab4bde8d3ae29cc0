// Package fleet has the port on which gates report the policy bundles that they accepted.
package fleet

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
)

// Store keeps which policy bundles were accepted, and which gate runs which.
type Store interface {
	// AcceptBundle records in one step that a gate accepted a bundle of a channel, unless one of the
	// same or a higher generation is recorded, and returns the recorded one. The zero bundle only
	// reads; without a recorded one it returns the zero bundle.
	AcceptBundle(ctx context.Context, channel string, b stopgate.Bundle, at time.Time) (newest stopgate.Bundle, err error)
	// PutGate replaces the state of a gate, and removes those of gates that were not seen for a week.
	PutGate(ctx context.Context, g Gate) error
	// Gates lists the gates by name.
	Gates(ctx context.Context) ([]Gate, error)
}

// Gate is the bundle that a gate runs.
type Gate struct {
	Name    string          `json:"gate"` // HOST/COMMAND/PROCESS
	Version string          `json:"version"`
	Channel string          `json:"channel"`
	Bundle  stopgate.Bundle `json:"bundle"`
	Canary  string          `json:"canary,omitempty"` // the share of the sessions that have its rules
	Since   time.Time       `json:"since"`            // when the gate's machine accepted it
	Seen    time.Time       `json:"seen"`             // when the gate reported last
	Refused string          `json:"refused,omitempty"`
}

// Kept is how long the state of a gate is kept that reports no more.
const Kept = 7 * 24 * time.Hour
