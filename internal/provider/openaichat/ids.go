package openaichat

import "crypto/rand"

// newID returns a random id for a call without one.
func newID() string { return "call_" + rand.Text()[:24] }
