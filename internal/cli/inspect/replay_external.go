package inspect

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/visible"
)

// notAnswered is why a call cannot be judged again by a policy with external policies.
const notAnswered = "no external policy's answer recorded"

// answeredAs are the questions of a hook, as rows name them.
var answeredAs = map[string]string{syntax.HookGate: "gate", syntax.HookSession: "session_check", syntax.HookJudge: "judge"}

// answered is a verdict after the external policies of a policy, which answer as recorded. It is not
// ok if the policy asks one of which no answer is recorded, unless another one denies.
func answered(v stopgate.Verdict, row *records.Row, p *policy.Program) (stopgate.Verdict, bool) {
	governing := p.GovernedBy(row.Tool)
	permits := v.Code == stopgate.CodePolicyNotConfigured // a gate may permit a tool that no file knows
	if len(governing) == 0 || v.Terminal() && !permits {
		return v, true
	}
	complete, permitted := true, false
	strictest := stopgate.Verdict{Decided: true, Mode: stopgate.Unattended}
	for _, e := range p.Externals() {
		for hook, name := range answeredAs {
			if !e.Has(hook) || !slices.Contains(governing, e.Name) {
				continue
			}
			found := false
			for _, a := range row.External {
				if a.Policy != e.Name || a.Hook != name || a.Answer == "" {
					continue
				}
				found = true
				permitted = permitted || hook == syntax.HookGate && a.Answer == "allow"
				if mode := modeOf(a.Answer); stopgate.Strictest(strictest.Mode, mode) != strictest.Mode {
					strictest.Mode, strictest.Code = mode, a.Code
				}
			}
			complete = complete && found
		}
	}
	if permits {
		if strictest.Mode != stopgate.Deny && permitted && complete {
			v = stopgate.Verdict{Decided: true, Mode: stopgate.Unattended, Layer: stopgate.LayerGate, Code: stopgate.CodeRuleMatched}
		} else if strictest.Mode != stopgate.Deny {
			return v, complete
		}
	}
	if stopgate.Strictest(v.Mode, strictest.Mode) != v.Mode {
		v.Mode, v.Layer, v.Code, v.Public = strictest.Mode, stopgate.LayerGate, strictest.Code, strictest.Code.Public()
	}
	return v, complete || strictest.Mode == stopgate.Deny
}

// modeOf returns the mode of an answer. A word that is none denies.
func modeOf(answer string) stopgate.Mode {
	switch answer {
	case "allow":
		return stopgate.Unattended
	case "ask":
		return stopgate.Ask
	}
	return stopgate.Deny
}

// externalText is an answer of an external policy on one line.
func externalText(a *stopgate.ExternalAnswer) string {
	text := fmt.Sprintf("%s %s: %s", visible.Text(a.Policy), visible.Text(a.Version), visible.Text(a.Hook))
	if a.Fault != "" {
		text += " failed: " + visible.Text(a.Fault)
	} else {
		text += " " + visible.Text(a.Answer)
	}
	if a.Code != "" {
		text += " (" + visible.Text(string(a.Code)) + ")"
	}
	if a.Count > 0 {
		text += fmt.Sprintf(", %d times", a.Count)
	}
	return text
}
