//go:build !linux

package ask

import "time"

// ask does nothing: the listener cannot be checked on this system.
func (*Asked) ask(string, []string, time.Duration) {}

// Status reports that there is no resident.
func Status() (text string, ok bool) { return "this system has none", false }
