package eval

import (
	"slices"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Binding is the policies applied to one tool, one definition of it and the constant facts of a
// call: agent, surface, server and principal. It is immutable and safe for concurrent use, and
// calls with the same facts can share it.
type Binding struct {
	run, result *plan
	// refused is the terminal verdict of a call that is refused without an evaluation.
	refused *stopgate.Verdict
	cause   string
	// emptyMeansNone: an empty argument text means no arguments (A14).
	emptyMeansNone bool
	definition     string
	server         stopgate.ServerID // see KnownServer
	// unknown: no file knows the tool; otherwise is the mode of its calls then.
	unknown   bool
	otherwise stopgate.Mode
	// paths caches the results of IsPath.
	paths atomic.Pointer[[]knownPath]
}

// knownPath is a cached result of IsPath.
type knownPath struct {
	pointer jsonstream.Pointer
	is      bool
}

// maxPaths is the maximum number of cached results.
const maxPaths = 64

// IsPath reports whether the value at a pointer is a path according to the tool's schema, from the
// call's definition and the policies.
func (b *Binding) IsPath(pointer jsonstream.Pointer) bool {
	var known []knownPath
	if old := b.paths.Load(); old != nil {
		known = *old
	}
	for i := range known {
		if slices.Equal(known[i].pointer, pointer) {
			return known[i].is
		}
	}
	is := slices.ContainsFunc(b.run.views, func(v *view) bool {
		return slices.ContainsFunc(v.schema.Reach(pointer).Locations, func(p *schema.Location) bool { return p.Has(schema.Path) })
	})
	if len(known) < maxPaths { // of two concurrent results one is cached
		now := append(slices.Clip(known), knownPath{slices.Clone(pointer), is})
		b.paths.Store(&now)
	}
	return is
}

// Bind resolves everything about a call that does not depend on its arguments: which tables apply,
// which rules remain after their conditions on the call, how they fit the tool's schema. It never
// fails: a call that cannot be evaluated is denied. The call's session is unknown, see
// [Policies.BindUnder].
func (p *Policies) Bind(c stopgate.Call) *Binding { return p.BindUnder(c, Circumstances{}) }

// BindUnder is Bind under known circumstances.
func (p *Policies) BindUnder(c stopgate.Call, under Circumstances) *Binding {
	b := &binder{policies: p, call: c, under: under, out: new(Binding), matchers: make(matchers)}
	b.out.server = p.servers[c.Server]
	b.bind()
	return b.out
}

// KnownServer returns the name under which lists of known tools have the call's server, if an operator's file has it under another
// one, else "".
func (b *Binding) KnownServer() stopgate.ServerID { return b.server }

// Evaluate begins the evaluation of one call in a session of which no texts are known.
func (b *Binding) Evaluate() *Evaluation { return b.EvaluateWith(nil) }

// EvaluateWith begins the evaluation of one call in a session with these texts.
func (b *Binding) EvaluateWith(texts flow.View) *Evaluation {
	e := new(Evaluation)
	e.ResetWith(b, texts)
	return e
}

// Definition returns the hash of the tool's schema in the call's definition, "" if there is none.
func (b *Binding) Definition() string { return b.definition }

// ResultMode decides whether the result of a call may be delivered, given the arguments that ran
// (D25-42, K32). Without result rules the result is delivered.
func (b *Binding) ResultMode(executed *jsonstream.Document) stopgate.Verdict {
	return b.ResultModeWith(executed, nil)
}

// ResultModeWith is ResultMode in a session with these texts.
func (b *Binding) ResultModeWith(executed *jsonstream.Document, texts flow.View) stopgate.Verdict {
	fixed := b.refused
	if fixed == nil && len(b.result.conds) == 0 {
		fixed = &b.result.start.verdict
	}
	if fixed != nil {
		v := *fixed
		v.Decided, v.DecidedAt, v.Floors = true, 0, nil
		return v
	}
	e := new(Evaluation)
	switch {
	case !executed.Root().IsValid():
		e.refuse(stopgate.LayerIntegrity, stopgate.CodeMalformedArguments, "")
	default:
		e.sessionTexts = texts
		e.judge(b.result, executed.Root())
	}
	return e.verdict
}

// binder builds one binding.
type binder struct {
	policies     *Policies
	call         stopgate.Call
	under        Circumstances
	out          *Binding
	base         *schema.Schema // the schema of the call's definition
	toolPolicies []*ToolPolicy
	matchers     matchers
	known        *schema.Schema // the schema of a known tool of this name, for guards; nil for none
	row          *schema.Schema // only its parameters, independent of the definition
	certain      bool           // the call is certainly one of the known tool with its parameters
	output       bool           // the call is a structured output
	handoff      bool           // or a handoff
	passed       bool           // and is exempt from the rules for all tools in some file
	sure         bool           // the call or an operator's file confirms that the tool exists
}

func (b *binder) bind() {
	b.out.run, b.out.result = new(plan), new(plan)
	if !stopgate.ValidToolName(b.call.Tool) {
		b.refuse(stopgate.CodePolicyNotConfigured, "name")
		return
	}
	if b.policies.table == nil && len(b.policies.layers) > 0 {
		b.refuse(stopgate.CodePolicyError, "conditions")
		return
	}
	if !b.define() {
		return
	}
	b.recognise()
	if !b.resolveTables() {
		return
	}
	for _, kind := range []syntax.ListKind{syntax.RunList, syntax.ResultList} {
		c := newCompiler(b, kind)
		if !c.compile() {
			b.refuse(stopgate.CodePolicyInvalidForSchema, c.trouble)
			return
		}
		c.plan.prepare()
		if kind == syntax.RunList {
			b.out.run = c.plan
			b.out.run.recognised = b.recognisedNote()
		} else {
			b.out.result = c.plan
		}
	}
	for _, v := range b.out.run.views {
		if !v.schema.RequiresNothing() {
			b.out.emptyMeansNone = false
		}
	}
}

// define reads the call's definition. It returns false if the call is refused.
func (b *binder) define() bool {
	d := b.call.Definition
	if d == nil {
		return true
	}
	b.out.emptyMeansNone = d.EmptyMeansNone
	if len(d.Schema) == 0 {
		return true
	}
	s, _, err := schema.ParseJSON(d.Schema)
	if err != nil {
		b.refuse(stopgate.CodePolicyInvalidForSchema, "schema")
		return false
	}
	b.base, b.out.definition = s, s.Hash()
	return true
}

func (b *binder) refuse(code stopgate.Code, cause string) {
	b.out.run, b.out.result = new(plan), new(plan)
	b.out.refused = &stopgate.Verdict{Decided: true, Mode: stopgate.Deny, Layer: stopgate.LayerIntegrity, Code: code, Public: code.Public()}
	b.out.cause = cause
}
