//go:build !linux

package ask

import "time"

// ask asks nobody: who listens cannot be looked at here.
func (*Asked) ask(string, []string, time.Duration) {}

// Status says that there is no resident.
func Status() (text string, ok bool) { return "this system has none", false }

// Self is what a process has in common with those that it believes: not known here.
type Self struct{}

// Own looks at this process.
func Own() Self { return Self{} }

// Believes reports whether the process at the other end may ask: not known here.
func (Self) Believes(uintptr) bool { return false }
