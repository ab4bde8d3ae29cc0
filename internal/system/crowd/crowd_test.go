package crowd

import (
	"testing"
	"time"
)

// A duration is scaled by the inverse of the share, never below itself and never above the longest.
func TestStretch(t *testing.T) {
	for _, c := range []struct {
		processors, runnable int
		want                 time.Duration
	}{
		{2, 0, 25 * time.Millisecond},
		{2, 1, 25 * time.Millisecond},
		{2, 2, 25 * time.Millisecond},
		{2, 4, 50 * time.Millisecond},
		{8, 64, 200 * time.Millisecond},
		{2, 300, time.Second},
		{0, 300, 25 * time.Millisecond},
	} {
		got := Stretch(25*time.Millisecond, share(c.processors, c.runnable), time.Second)
		if got != c.want {
			t.Errorf("%d threads on %d processors: %v, want %v", c.runnable, c.processors, got, c.want)
		}
	}
	if got := Stretch(2*time.Second, 0.1, time.Second); got != 2*time.Second {
		t.Errorf("what is longer than the longest: %v", got)
	}
	for _, none := range []float64{0, -1, 2} {
		if got := Stretch(time.Second, none, time.Minute); got != time.Second {
			t.Errorf("a share of %v: %v", none, got)
		}
	}
	if s := Share(); s <= 0 || s > 1 {
		t.Errorf("the share of this machine is %v", s)
	}
}
