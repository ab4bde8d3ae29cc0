// Package property runs the properties of the tests: random cases that are the
// same in every run, so that a change fails for what it changed and not by the
// draw of the day.
//
//	property.Check(t, func(t *rapid.T) {
//		n := rapid.Int().Draw(t, "n")
//		...
//	})
//
// STOPGATE_SEED=random draws new cases in each run (make test-long, make
// properties), STOPGATE_SEED=42 those of one number, which a failure prints.
// The flag -rapid.seed wins over both; RAPID_CHECKS says how many cases.
package property

import (
	"flag"
	"os"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// seed is what every run draws from unless it is told otherwise.
const seed = "1"

// Check is rapid.Check with the seed of this package.
func Check(t rapid.TB, prop func(*rapid.T)) {
	t.Helper()
	if err := choose(); err != nil {
		t.Fatalf("STOPGATE_SEED: %v", err)
	}
	rapid.Check(t, prop)
}

// Many is Check with a number of times as many cases. No other property may run
// beside it.
func Many(t rapid.TB, times int, prop func(*rapid.T)) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	checks, err := strconv.Atoi(before)
	if err == nil {
		err = f.Value.Set(strconv.Itoa(checks * times))
	}
	if err != nil {
		t.Fatalf("-rapid.checks: %v", err)
	}
	defer func() { _ = f.Value.Set(before) }()
	Check(t, prop)
}

// choose sets rapid's flag, once for all tests of a binary.
var choose = sync.OnceValue(func() error {
	f := flag.Lookup("rapid.seed")
	want := os.Getenv("STOPGATE_SEED")
	switch {
	case f.Value.String() != "0" || want == "random":
		return nil
	case want == "":
		want = seed
	}
	return f.Value.Set(want)
})

// Cases returns how many random cases a test draws: with -short, by default, and with
// STOPGATE_LONG set.
func Cases(short, normal, long int) int {
	switch {
	case os.Getenv("STOPGATE_LONG") != "":
		return long
	case testing.Short():
		return short
	}
	return normal
}
