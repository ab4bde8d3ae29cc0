package policies_test

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
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
			b := newBook(t, policies.Limit("mail").Calls(limit).Within(time.Hour))
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
		b := newBook(t, policies.Limit("mail").Calls(1000).Within(time.Hour))
		b.now = 20 * 365 * 24 * hour
		for range 500 {
			b.release("mail", `{}`)
			b.now += by
		}
		b.now -= by
		key := policies.Limit("mail").Calls(1000).Within(time.Hour).Needs(b.call("mail", `{}`))[0]
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

// Proves FM13: under a clock that goes on, and one that leaps between three times, each of
// which goes on too, a limit counts what a list of all calls says, also of those that failed.
func TestLimitsCountAsAListDoes(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		const step = 1000
		const window = session.Steps * step
		limit := policies.Limit("mail").Calls(0).Within(window * time.Millisecond) // it says how many there were
		b := &book{t: new(testing.T), reg: session.NewRegistry(), cells: map[session.Key]*session.Cell{}}
		if err := b.reg.Register(limit); err != nil {
			t.Fatal(err)
		}
		clocks := []int64{20 * window, 20*window + rapid.Int64Range(2*window, 9*window).Draw(t, "forward"), 20*window - rapid.Int64Range(2*window, 9*window).Draw(t, "back")}
		leaps := rapid.Bool().Draw(t, "leaps")
		pace := rapid.SampledFrom([]int64{step / 3, step, window / 9}).Draw(t, "pace")
		if leaps {
			pace = min(pace, window/200) // no time reaches the next
		}
		var counted []int64
		in := 0
		for range rapid.IntRange(1, 100).Draw(t, "calls") {
			if leaps {
				in = rapid.IntRange(0, 2).Draw(t, "time")
			}
			clocks[in] += rapid.Int64Range(0, 2*pace).Draw(t, "later")
			b.now = clocks[in]
			want := 0
			for _, at := range counted {
				if b.now/step-at/step <= session.Steps {
					want++
				}
			}
			if d := b.check("mail", `{}`); d.Meta["calls"] != strconv.Itoa(want) {
				t.Fatalf("%s calls count, of %v at %d, not %d", d.Meta["calls"], counted, b.now, want)
			}
			if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
				b.run("mail", `{}`, session.Failed)
				continue
			}
			b.release("mail", `{}`)
			counted = append(counted, b.now)
		}
	})
}
