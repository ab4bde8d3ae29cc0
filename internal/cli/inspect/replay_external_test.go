package inspect

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/record/records"
)

// Proves X4, G2-23: replay takes the recorded answers of external policies, and asks nobody. A call
// of which an answer is missing is not replayable.
func TestReplayTakesRecordedAnswers(t *testing.T) {
	answer := func(hook, word string) stopgate.ExternalAnswer {
		return stopgate.ExternalAnswer{Policy: "ext", Version: "1", Hook: hook, Answer: word, Code: "why"}
	}
	for _, c := range []struct {
		name     string
		rules    stopgate.Mode
		code     stopgate.Code
		hooks    string
		recorded []stopgate.ExternalAnswer
		want     stopgate.Mode
		ok       bool
	}{
		{"none now", stopgate.Unattended, "", "", []stopgate.ExternalAnswer{answer("gate", "deny")}, stopgate.Unattended, true},
		{"allowed", stopgate.Unattended, "", `"gate"`, []stopgate.ExternalAnswer{answer("gate", "allow")}, stopgate.Unattended, true},
		{"denied", stopgate.Unattended, "", `"gate"`, []stopgate.ExternalAnswer{answer("gate", "deny")}, stopgate.Deny, true},
		{"never loosens", stopgate.Ask, "", `"gate"`, []stopgate.ExternalAnswer{answer("gate", "allow")}, stopgate.Ask, true},
		{"asks", stopgate.Unattended, "", `"session"`, []stopgate.ExternalAnswer{answer("session_check", "ask")}, stopgate.Ask, true},
		{"both states", stopgate.Unattended, "", `"session"`, []stopgate.ExternalAnswer{answer("session_check", "allow"), answer("session_check", "deny")}, stopgate.Deny, true},
		{"one is missing", stopgate.Unattended, "", `"gate", "session"`, []stopgate.ExternalAnswer{answer("gate", "allow")}, stopgate.Unattended, false},
		{"one denied first", stopgate.Unattended, "", `"gate", "session"`, []stopgate.ExternalAnswer{answer("session_check", "deny")}, stopgate.Deny, true},
		{"it failed then", stopgate.Unattended, "", `"gate"`, []stopgate.ExternalAnswer{{Policy: "ext", Hook: "gate", Fault: "timeout"}}, stopgate.Unattended, false},
		{"a word that is none", stopgate.Unattended, "", `"gate"`, []stopgate.ExternalAnswer{answer("gate", "maybe")}, stopgate.Deny, true},
		{"an unknown tool is permitted", stopgate.Deny, stopgate.CodePolicyNotConfigured, `"gate"`, []stopgate.ExternalAnswer{answer("gate", "allow")}, stopgate.Unattended, true},
		{"an unknown tool is not", stopgate.Deny, stopgate.CodePolicyNotConfigured, `"session"`, []stopgate.ExternalAnswer{answer("session_check", "allow")}, stopgate.Deny, true},
		{"denied by a rule now", stopgate.Deny, stopgate.CodeRuleMatched, `"gate"`, nil, stopgate.Deny, true},
	} {
		text := "version = 1\n[tools.run.policy]\nrun = \"unattended\"\n"
		if c.hooks != "" {
			text += "[[external]]\nname = \"ext\"\nurl = \"unix:///none\"\nhooks = [" + c.hooks + "]\n"
		}
		program, found := prove.Compile([]policy.Source{{Name: "p", Text: []byte(text), Trusted: true}}, policy.Options{})
		if program == nil {
			t.Fatal(found)
		}
		row := &records.Row{Record: stopgate.Record{Tool: "run", External: c.recorded}}
		v, ok := answered(stopgate.Verdict{Decided: true, Mode: c.rules, Code: c.code}, row, program)
		if v.Mode != c.want || ok != c.ok {
			t.Errorf("%s: %s %v", c.name, v.Mode, ok)
		}
	}
}
