package main

import (
	"testing"

	"github.com/stopgate/stopgate/internal/playground"
)

// Every example shows what its title says.
func TestExamples(t *testing.T) {
	list, err := readExamples("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		t.Run(e.Title, func(t *testing.T) {
			p, report := playground.Compile([]byte(e.Policy))
			if e.Mode == "" {
				if report.Valid || len(report.Findings) < 4 {
					t.Errorf("want a policy with mistakes, got %v", report.Findings)
				}
				return
			}
			if p == nil {
				t.Fatal(report.Findings)
			}
			m, err := p.At(t.Context(), playground.Call{Tool: e.Tool, Args: []byte(e.Args), Before: []byte(e.Before)}, len(e.Args), true)
			if err != nil {
				t.Fatal(err)
			}
			if m.Answer.Mode.String() != e.Mode {
				t.Errorf("%s: %+v", m.Answer.Mode, m.Answer)
			}
		})
	}
}
