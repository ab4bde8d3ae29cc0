package session_test

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/session"
)

// Proves FM13: whatever a clock does between calls, what it counted in the window before
// counts on when it is right again, and so does every call that comes then.
func TestLimitsAndClocksThatAreSet(t *testing.T) {
	const hour = int64(time.Hour / time.Millisecond)
	for name, c := range map[string]struct {
		jumps []int64 // two calls at each
		count int64   // of them, and of three calls before and three after
	}{
		"never":                 {nil, 6},
		"forward":               {[]int64{3 * hour}, 8},
		"far forward":           {[]int64{10 * 365 * 24 * hour}, 8},
		"back":                  {[]int64{-3 * hour}, 6},
		"far back":              {[]int64{-10 * 365 * 24 * hour}, 6},
		"forward and on":        {[]int64{3 * hour, 9 * hour}, 10},
		"back and forward":      {[]int64{-3 * hour, 3 * hour}, 8},
		"within the window":     {[]int64{hour / 2, -hour / 2}, 10},
		"one step more than it": {[]int64{hour + hour/session.Steps, -hour - hour/session.Steps}, 8},
	} {
		for _, limit := range []int64{c.count, c.count + 1} {
			b := newBook(t, session.Limit("mail").Calls(limit).Within(time.Hour))
			b.now = 20 * 365 * 24 * hour
			right := b.now
			for range 3 {
				b.release("mail", `{}`)
			}
			for _, by := range c.jumps {
				b.now = right + by
				b.release("mail", `{}`)
				b.release("mail", `{}`)
			}
			b.now = right
			for range 3 {
				b.release("mail", `{}`)
			}
			if d := b.check("mail", `{}`); d.Allowed != (limit > c.count) {
				t.Errorf("%s: of a limit of %d, %d count: %+v", name, limit, c.count, d)
			}
		}
	}
}

// Proves FM13, FM14: a clock that is set without end makes no cell grow, and lets none of
// what is ahead of it be forgotten.
func TestStepsAreBounded(t *testing.T) {
	const hour = int64(time.Hour / time.Millisecond)
	for name, by := range map[string]int64{
		"back by less than the window": -hour / 3, "back": -2 * hour, "forward": 2 * hour, "forward by less": hour / 3,
	} {
		b := newBook(t, session.Limit("mail").Calls(1000).Within(time.Hour))
		b.now = 20 * 365 * 24 * hour
		for range 500 {
			b.release("mail", `{}`)
			b.now += by
		}
		b.now -= by
		key := session.Limit("mail").Calls(1000).Within(time.Hour).Needs(b.call("mail", `{}`))[0]
		cell, total := b.cells[key], int64(0)
		for i, s := range cell.Steps {
			if total += s.Count; i > 0 && s.At <= cell.Steps[i-1].At {
				t.Fatalf("%s: %v", name, cell.Steps)
			}
		}
		if most := 3 * (session.Steps + 1); len(cell.Steps) > most {
			t.Errorf("%s: %d steps", name, len(cell.Steps))
		}
		if by < 0 && total != 500 {
			t.Errorf("%s: %d of 500 calls ahead of the clock count", name, total)
		}
	}
}
