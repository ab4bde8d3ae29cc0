package openaichat

import "crypto/rand"

// newID makes up the id of a call that came without one (WIRE 2.3).
func newID() string { return "call_" + rand.Text()[:24] }
