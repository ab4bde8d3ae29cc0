package backend

import "github.com/stopgate/stopgate/internal/store/fleet"

// GateState is the bundle that a gate runs.
type GateState = fleet.Gate

// GateKept is how long the state of a gate is kept that reports no more.
const GateKept = fleet.Kept
