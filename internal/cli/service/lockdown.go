package service

import (
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/visible"
)

// LockdownPoll is how often a gate looks whether there is a lockdown.
const LockdownPoll = 200 * time.Millisecond

// LockdownText describes a lockdown, or its absence.
func LockdownText(l gate.Lockdown) string {
	if !l.Active() {
		return "no lockdown"
	}
	text := "LOCKDOWN since " + l.Since.Local().Format("2006-01-02 15:04:05")
	if l.By != "" {
		text += " by " + visible.Text(l.By)
	}
	if l.Reason != "" {
		text += ": " + visible.Text(l.Reason)
	}
	return text + "; every call is denied (lift it with: stopgate lockdown --lift)"
}
