//go:build !linux

package ask

import "time"

// ask does nothing: the listener cannot be checked on this system.
func (*Asked) ask(string, []string, time.Duration) {}

// Status reports that there is no resident.
func Status() (text string, ok bool) { return "this system has none", false }

// Self is empty: peers cannot be checked on this system.
type Self struct{}

// Own returns the identity of this process.
func Own() Self { return Self{} }

// Serves reports whether the process at the other end may ask this one: never on this system.
func (Self) Serves(uintptr) bool { return false }
