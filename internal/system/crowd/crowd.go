// Package crowd says how crowded a machine is: what of a processor each of those gets that
// want one. Who waits for another process uses it to tell one that is stuck from one that
// has not had its turn to run.
package crowd

import (
	"sync"
	"time"
)

// fresh is how long a number is used. Whoever asks for it waits for something himself, and
// there may be hundreds.
const fresh = 10 * time.Millisecond

var last struct {
	sync.Mutex
	at    time.Time
	share float64
}

// Share is the part of a processor that one of the threads of this machine gets which want
// one now: 1 where there is one for each of them, or where the system does not say.
func Share() float64 {
	last.Lock()
	defer last.Unlock()
	if now := time.Now(); last.share == 0 || now.Sub(last.at) > fresh || now.Before(last.at) {
		last.at, last.share = now, share(processors(), runnable())
	}
	return last.share
}

// share divides the processors, of which this thread has one, among those that want one.
func share(processors, runnable int) float64 {
	if processors <= 0 || runnable <= processors {
		return 1
	}
	return float64(processors) / float64(runnable)
}

// Stretch makes a time that would do on a machine for one's own as long as it takes on
// this one now, and longest at most.
func Stretch(d time.Duration, share float64, longest time.Duration) time.Duration {
	if share <= 0 || share >= 1 || d >= longest {
		return d
	}
	return min(time.Duration(float64(d)/share), longest)
}
