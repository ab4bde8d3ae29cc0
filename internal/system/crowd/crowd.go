// Package crowd measures how crowded a machine is: the share of a processor that each runnable
// thread gets. A process that waits for another one uses it to distinguish a stuck process from one
// that has not had a turn to run.
package crowd

import (
	"sync"
	"time"
)

// maxAge is how long a measurement is reused. Callers are waiting, and there may be hundreds of
// them.
const maxAge = 10 * time.Millisecond

var last struct {
	sync.Mutex
	at    time.Time
	share float64
}

// Share returns the share of a processor that one runnable thread of this machine gets now: 1 if
// there are enough processors, or if the system does not report it.
func Share() float64 {
	last.Lock()
	defer last.Unlock()
	if now := time.Now(); last.share == 0 || now.Sub(last.at) > maxAge || now.Before(last.at) {
		last.at, last.share = now, share(processors(), runnable())
	}
	return last.share
}

// share divides the processors, one of which runs this thread, among the runnable threads.
func share(processors, runnable int) float64 {
	if processors <= 0 || runnable <= processors {
		return 1
	}
	return float64(processors) / float64(runnable)
}

// Stretch scales a duration for an idle machine to the current load, up to longest.
func Stretch(d time.Duration, share float64, longest time.Duration) time.Duration {
	if share <= 0 || share >= 1 || d >= longest {
		return d
	}
	return min(time.Duration(float64(d)/share), longest)
}
