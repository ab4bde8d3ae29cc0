package gate

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
)

// deny adds a denial.
func (p *pending) deny(layer stopgate.Layer, code stopgate.Code) { p.forbid(layer, code, "") }

// forbid denies on behalf of a layer, with the sentence public unless it is "".
func (p *pending) forbid(layer stopgate.Layer, code stopgate.Code, public string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.refusal(layer, code)
	if public != "" {
		v.Public = public
	}
	p.addVerdict(v)
}

// fail denies because a layer gave no usable answer.
func (p *pending) fail(code stopgate.Code, who string, f port.Fault, stack string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addFailure(code, who, f, stack)
}

// rowUnavailable returns the code of a call whose row cannot be written. The rows of a journal of a
// fleet are in the database of its sessions.
func (g *Gate) rowUnavailable() stopgate.Code {
	if g.sessions.fleet && g.sessions.journal {
		return stopgate.CodeStoreUnavailable
	}
	return stopgate.CodeAuditUnavailable
}

// addFailure is fail with p.mu held.
func (p *pending) addFailure(code stopgate.Code, who string, f port.Fault, stack string) {
	p.verdicts.blame(who, f, stack)
	layer := stopgate.LayerFailure
	if code == stopgate.CodeClientGone {
		layer = stopgate.LayerApproval
	}
	p.addVerdict(p.refusal(layer, code))
}

// blame sets the cause of the row to the name of the part that failed and its fault, without
// its text (H17).
func (v *verdicts) blame(who string, f port.Fault, stack string) {
	if f == port.None {
		who += ": invalid answer"
	} else {
		who += ": " + f.String()
	}
	if stack != "" {
		who += " " + stack
	}
	if !v.terminal {
		v.cause = who
	}
}

// policyFault returns the code for a policy in Go that gave no answer (FM15).
func policyFault(f port.Fault, err error) stopgate.Code {
	switch f {
	case port.Late, port.Overloaded:
		return stopgate.CodePolicyTimeout
	case port.CallerDone:
		return goneCode(err)
	}
	// An external policy knows whether its answer was late or invalid.
	var coded interface{ Code() stopgate.Code }
	if errors.As(err, &coded) {
		if code := coded.Code(); code == stopgate.CodePolicyTimeout || code == stopgate.CodeInvalidPolicyResult {
			return code
		}
	}
	return stopgate.CodePolicyError
}

// goneCode returns the code for a call whose context ended while a layer worked.
func goneCode(cause error) stopgate.Code {
	var w withdrawn
	switch {
	case errors.As(cause, &w):
		return w.code
	case errors.Is(cause, context.DeadlineExceeded):
		return stopgate.CodePolicyTimeout
	}
	return stopgate.CodeClientGone
}

// withdrawn is the cause of a context that ended because the call is decided.
type withdrawn struct{ code stopgate.Code }

func (w withdrawn) Error() string { return "withdrawn: " + string(w.code) }
