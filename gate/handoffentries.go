package gate

import (
	"errors"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// handoffResult is the combined result of the policy files for one handoff. It is zero if no
// entry applies.
type handoffResult struct {
	found    bool
	mode     stopgate.Mode
	delegate bool
	inherit  bool
	reason   string
}

// handoff combines the layers: the first entry that applies in each layer, and the strictest
// of all layers (K35). A layer without such an entry abstains.
func (c *compiled) handoff(from, to stopgate.AgentName) handoffResult {
	var all handoffResult
	if to == "" {
		return all
	}
	for _, layer := range c.handoffs {
		for _, h := range layer {
			if !h.Applies(from, to) {
				continue
			}
			if !all.found {
				all = handoffResult{found: true, mode: h.Mode, delegate: h.Delegate, inherit: h.Inherit, reason: h.Reason}
				break
			}
			if stopgate.Strictest(h.Mode, all.mode) != all.mode {
				all.reason = h.Reason
			}
			all.mode = stopgate.Strictest(h.Mode, all.mode)
			all.delegate, all.inherit = all.delegate && h.Delegate, all.inherit || h.Inherit
			break
		}
	}
	return all
}

// verdict returns the verdict of the files. policies reports that there are handoff policies
// in Go, which may permit a handoff without an entry.
func (h handoffResult) verdict(policies bool) stopgate.Verdict {
	v := stopgate.Verdict{Decided: true, Mode: h.mode, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched, Public: h.reason}
	if !h.found {
		v.Layer, v.Code, v.Mode = stopgate.LayerGate, stopgate.CodePolicyNotConfigured, stopgate.Deny
		if policies { // they have to permit it: see handoffPolicies
			v.Mode, v.Code = stopgate.Unattended, stopgate.CodeRuleMatched
		}
	}
	if v.Public == "" {
		v.Public = v.Code.Public()
		if v.Code == stopgate.CodePolicyNotConfigured {
			v.Public = "No policy covers this handoff."
		}
	}
	return v
}

// payloadRules are the [Rules] of a handoff. Of its payload only the JSON syntax is checked; the
// verdict does not depend on it.
type payloadRules struct {
	policies bool // decide about handoffs
	entry    handoffResult
}

func (t *payloadRules) Evaluate(flow.View) Evaluation {
	return &payloadEvaluation{trace: []stopgate.Verdict{t.entry.verdict(t.policies)}}
}

// Unknown reports false: it is about tools, see handoffPolicies for handoffs.
func (t *payloadRules) Unknown() (stopgate.Mode, bool) { return stopgate.Deny, false }

// Access reports no limit: a handoff runs no tool.
func (t *payloadRules) Access() *stopgate.Access { return nil }

// ResultMode delivers: the answer of the receiving agent is not judged here.
func (t *payloadRules) ResultMode(*jsonstream.Document, flow.View) stopgate.Verdict {
	return stopgate.Verdict{Decided: true, Mode: stopgate.Unattended, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched}
}

// IsPath reports no paths.
func (t *payloadRules) IsPath(jsonstream.Pointer) bool { return false }

// KnownServer reports none: a handoff is no call of a server.
func (t *payloadRules) KnownServer() stopgate.ServerID { return "" }

type payloadEvaluation struct {
	text  []byte
	doc   jsonstream.Document
	trace []stopgate.Verdict
}

func (c *payloadEvaluation) Feed(chunk []byte) stopgate.Verdict {
	c.text = append(c.text, chunk...)
	return c.Verdict()
}

func (c *payloadEvaluation) Close(stopgate.End) stopgate.Verdict {
	if err := c.doc.Scan(c.text, jsonstream.Options{}); err != nil && !c.Verdict().Terminal() {
		code := stopgate.CodeMalformedArguments
		var fault *jsonstream.Error
		if errors.As(err, &fault) {
			code = fault.Code
		}
		c.trace = append(c.trace, stopgate.Verdict{
			Decided: true, Layer: stopgate.LayerIntegrity, Code: code, DecidedAt: int64(len(c.text)), Public: code.Public(),
		})
	}
	return c.Verdict()
}

func (c *payloadEvaluation) Verdict() stopgate.Verdict                   { return *c.Latest() }
func (c *payloadEvaluation) Latest() *stopgate.Verdict                   { return &c.trace[len(c.trace)-1] }
func (c *payloadEvaluation) Trace() []stopgate.Verdict                   { return c.trace }
func (c *payloadEvaluation) Instead() string                             { return "" }
func (c *payloadEvaluation) Watch([]jsonstream.Pointer)                  {}
func (c *payloadEvaluation) Watched() (jsonstream.Pointer, []byte, bool) { return nil, nil, false }
func (c *payloadEvaluation) Cause() string                               { return "" }
func (c *payloadEvaluation) Document() *jsonstream.Document              { return &c.doc }
func (c *payloadEvaluation) Args() []byte                                { return c.text }
func (c *payloadEvaluation) Leaves() []Leaf                              { return nil }
func (c *payloadEvaluation) Origins() []stopgate.Origin                  { return nil }
func (c *payloadEvaluation) Asking() []string                            { return nil }
func (c *payloadEvaluation) Release()                                    {}

// receiver finds the agent that a tool's call hands over to, where a file declares
// the tool as a handoff (S41): the argument that the file names, else the part of the
// tool's name that "*" matches.
func (c *compiled) receiver(tool stopgate.ToolName, args jsonstream.Value) (to stopgate.AgentName, is bool) {
	for _, layer := range c.handoffs {
		for _, h := range layer {
			if to, is := h.Receiver(tool, args); is {
				return to, true
			}
		}
	}
	return "", false
}

// inherits reports whether any handoff of the policy passes tables on.
func inherits(layers [][]HandoffRule) bool {
	return slices.ContainsFunc(layers, func(l []HandoffRule) bool {
		return slices.ContainsFunc(l, func(h HandoffRule) bool { return h.Inherit })
	})
}
