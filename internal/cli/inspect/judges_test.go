package inspect

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/record/records"
)

// Proves X4: replay takes the recorded probability, so that another threshold or mode is
// tried without a model; a call that no judge was asked about is not replayable by a
// policy that wants one.
func TestReplayTakesRecordedReviews(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name     string
		rules    stopgate.Mode
		judge    string
		recorded *stopgate.Review
		want     stopgate.Mode
		ok       bool
	}{
		{"no judge now", stopgate.Unattended, "", &stopgate.Review{Probability: p(1)}, stopgate.Unattended, true},
		{"below", stopgate.Unattended, "threshold = 0.6\n", &stopgate.Review{Probability: p(0.59)}, stopgate.Unattended, true},
		{"above", stopgate.Unattended, "threshold = 0.6\n", &stopgate.Review{Probability: p(0.6)}, stopgate.Deny, true},
		{"above, and it asks", stopgate.Unattended, "mode = \"ask\"\n", &stopgate.Review{Probability: p(1)}, stopgate.Ask, true},
		{"it never loosens", stopgate.Ask, "mode = \"ask\"\n", &stopgate.Review{Probability: p(0)}, stopgate.Ask, true},
		{"denied by a rule now", stopgate.Deny, "\n", nil, stopgate.Deny, true},
		{"another tool's", stopgate.Unattended, "tools = [\"other\"]\n", nil, stopgate.Unattended, true},
		{"nobody was asked", stopgate.Unattended, "\n", nil, stopgate.Unattended, false},
		{"it failed then", stopgate.Unattended, "\n", &stopgate.Review{Fault: "timeout"}, stopgate.Unattended, false},
	} {
		text := "version = 1\n[tools.run.policy]\nrun = \"unattended\"\n"
		if c.judge != "" {
			text += "[judge]\nmodel = \"m\"\n" + c.judge
		}
		program, found := prove.Compile([]policy.Source{{Name: "p", Text: []byte(text), Trusted: true}}, policy.Options{})
		if program == nil {
			t.Fatal(found)
		}
		row := &records.Row{Record: stopgate.Record{Tool: "run", Judge: c.recorded}}
		v, ok := reviewed(stopgate.Verdict{Decided: true, Mode: c.rules}, row, program)
		if v.Mode != c.want || ok != c.ok {
			t.Errorf("%s: %s %v", c.name, v.Mode, ok)
		}
	}
}

// A judge's answer is shown on one line, whatever a model wrote.
func TestReviewText(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for want, r := range map[string]stopgate.Review{
		"m: unattended, harmful with probability 0.10, objects from 0.50 on: Fine. (as before)": {Model: "m", Mode: stopgate.Unattended, Probability: p(0.1), Threshold: p(0.5), Explanation: "Fine.", Cached: true},
		"m: ask, because it failed: http 503":                                                   {Model: "m", Mode: stopgate.Ask, Fault: "http 503"},
		`m: deny: a\nb`:                                                                         {Model: "m", Explanation: "a\nb"},
	} {
		if got := reviewText(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
