package gateway_test

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// newGate compiles a policy as an operator's file. rec may be nil.
func newGate(tb testing.TB, text string, rec gate.Recorder, more ...gate.Option) *gate.Gate {
	tb.Helper()
	program, diags := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	if diags.HasErrors() {
		tb.Fatalf("the policy has mistakes: %v", diags)
	}
	patient := gate.Limits{Policy: time.Minute, Store: time.Minute, Record: time.Minute} // so that a busy disk does not deny
	options := append([]gate.Option{gate.WithDenyMode(gate.DenyToolResult), gate.WithLimits(patient)}, more...)
	if rec != nil {
		options = append(options, gate.WithRecorder(rec))
	}
	g, err := gate.New(program, options...)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// newBenchGate returns a gate that allows every declared tool, without a disk.
func newBenchGate() *gate.Gate {
	program, _ := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(allowAll), Trusted: true}}, policy.Options{})
	g, err := gate.New(program)
	if err != nil {
		panic(err)
	}
	return g
}
