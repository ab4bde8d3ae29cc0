package playground_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/playground"
)

// Lines that came before a call are refused with their number and the mistake.
func TestBeforeIsReadStrictly(t *testing.T) {
	p, report := playground.Compile([]byte("version = 1\n[tools.x.policy]\nrun = \"unattended\"\n"))
	if p == nil {
		t.Fatal(report.Findings)
	}
	for before, want := range map[string]string{
		"{":                                     "line 1",
		`{"tool":"x","args":{},"args":{"a":1}}`: "line 1",
		`{"tool":"x"}`:                          `line 1: give the arguments once`,
		`{"tool":"x","args":{},"raw":"{}"}`:     `line 1: give the arguments once`,
		`{"tool":"x","raw":{}}`:                 `line 1: "raw" must be`,
		`{"tool":7,"args":{}}`:                  `line 1: a call has a "tool"`,
		`{"args":{}}`:                           `line 1: a call has a "tool"`,
		"\n" + `{"tool":"x","args":{},"mode":"unattended"}`: `line 2: there is no member "mode"`,
		`{"source":"tool","text":"x"}`:                      "line 1",
		`{"source":"user"}`:                                 "line 1: text is missing",
		`[]`:                                                "line 1",
		strings.Repeat(`{"source":"user","text":"x"}`+"\n", 101): "line 101: the playground takes 100 lines",
		strings.Repeat(" ", playground.MaxBefore+1):              "the playground takes 65536",
	} {
		c := playground.Call{Tool: "x", Args: []byte("{}"), Before: []byte(before)}
		_, traced := p.Trace(t.Context(), c)
		_, at := p.At(t.Context(), c, 0, false)
		_, sent := p.Send(t.Context(), c)
		for _, err := range []error{traced, at, sent} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60q: %v, want %q", before, err, want)
			}
		}
	}
}

// What exceeds a limit is refused, and a position outside of the arguments too.
func TestLimits(t *testing.T) {
	if p, report := playground.Compile([]byte("#" + strings.Repeat("x", playground.MaxPolicy))); p != nil || report.Valid || len(report.Findings) != 1 {
		t.Errorf("%+v", report)
	}
	p, _ := playground.Compile([]byte("version = 1\n"))
	for _, c := range []playground.Call{
		{Tool: "x", Args: make([]byte, playground.MaxArgs+1)},
		{Tool: strings.Repeat("x", playground.MaxTool+1)},
	} {
		if _, err := p.Trace(t.Context(), c); err == nil || !strings.Contains(err.Error(), "the playground takes") {
			t.Errorf("%v", err)
		}
	}
	for _, n := range []int{-1, 3} {
		if _, err := p.At(t.Context(), playground.Call{Tool: "x", Args: []byte("{}")}, n, false); err == nil {
			t.Errorf("there is a byte %d of 2", n)
		}
	}
}
