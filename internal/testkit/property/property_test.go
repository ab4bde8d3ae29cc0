package property_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// Two runs of a property draw the same cases, and others only where that is asked.
func TestSeed(t *testing.T) {
	drawn := func(env string, flags ...string) (string, error) {
		cmd := exec.Command(os.Args[0], append([]string{"-test.run", "^TestDrawn$", "-test.v", "-rapid.checks", "5"}, flags...)...)
		cmd.Env = append(os.Environ(), "STOPGATE_DRAW=1", "STOPGATE_SEED="+env)
		out, err := cmd.CombinedOutput()
		var numbers []string
		for _, line := range strings.Split(string(out), "\n") {
			if _, n, ok := strings.Cut(line, "drawn "); ok {
				numbers = append(numbers, n)
			}
		}
		return strings.Join(numbers, " "), err
	}
	first, err := drawn("")
	if err != nil || len(strings.Fields(first)) != 5 {
		t.Fatalf("%v: %q", err, first)
	}
	for _, c := range []struct {
		env, flag string
		same      bool
	}{
		{"", "", true}, {"1", "", true}, {"2", "", false}, {"random", "", false}, {"", "-rapid.seed=2", false}, {"random", "-rapid.seed=1", true},
	} {
		var flags []string
		if c.flag != "" {
			flags = []string{c.flag}
		}
		if got, err := drawn(c.env, flags...); err != nil || (got == first) != c.same {
			t.Errorf("STOPGATE_SEED=%q %s: %v %q, the first run drew %q", c.env, c.flag, err, got, first)
		}
	}
	if _, err := drawn("x"); err == nil {
		t.Error("a seed that is no number was taken")
	}
}

// Many runs a property so many times more often, and only that one.
func TestMany(t *testing.T) {
	one, many, after := 0, 0, 0
	property.Check(t, func(*rapid.T) { one++ })
	property.Many(t, 3, func(*rapid.T) { many++ })
	property.Check(t, func(*rapid.T) { after++ })
	if one == 0 || many != 3*one || after != one {
		t.Errorf("%d, %d and %d runs", one, many, after)
	}
}

// TestDrawn is what TestSeed runs.
func TestDrawn(t *testing.T) {
	if os.Getenv("STOPGATE_DRAW") == "" {
		t.Skip("part of TestSeed")
	}
	property.Check(t, func(rt *rapid.T) { t.Logf("drawn %d", rapid.Uint64().Draw(rt, "n")) })
}
