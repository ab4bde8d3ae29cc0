package eval

import (
	"slices"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
)

// Binding is policies applied to one tool, one definition of it and the constant
// facts of a call: agent, surface, server and principal. It is immutable and safe
// for concurrent use; calls that agree in these can share it.
type Binding struct {
	run, result *plan
	// refused is the terminal verdict of a call that is not judged at all.
	refused *stopgate.Verdict
	cause   string
	// emptyMeansNone: empty argument text stands for no arguments (A14).
	emptyMeansNone bool
	definition     string
	// unknown: no file knows the tool; otherwise is what becomes of it then.
	unknown   bool
	otherwise stopgate.Mode
	// paths is memory of IsPath.
	paths atomic.Pointer[[]knownPath]
}

// knownPath says whether a pointer names a path.
type knownPath struct {
	pointer jsonstream.Pointer
	is      bool
}

// maxPaths bounds that memory.
const maxPaths = 64

// IsPath reports whether the tool's schema, as the call's definition and the policies
// have it, calls what a pointer names a path.
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
		return slices.ContainsFunc(v.schema.Reach(pointer).Places, func(p *schema.Place) bool { return p.Has(schema.Path) })
	})
	if len(known) < maxPaths { // of two at once one is remembered
		now := append(slices.Clip(known), knownPath{slices.Clone(pointer), is})
		b.paths.Store(&now)
	}
	return is
}

// Bind resolves everything about a call that does not depend on its arguments:
// which tables apply, which rules their conditions on the call leave, how they fit
// the tool's schema. It never fails: what cannot be judged denies. Nothing is known
// of the call's session, see [Policies.BindUnder].
func (p *Policies) Bind(c stopgate.Call) *Binding { return p.BindUnder(c, Circumstances{}) }

// BindUnder is Bind under circumstances that are known.
func (p *Policies) BindUnder(c stopgate.Call, under Circumstances) *Binding {
	b := &binder{policies: p, call: c, under: under, out: new(Binding), matchers: make(matchers)}
	b.bind()
	return b.out
}

// Evaluate begins the evaluation of one call.
func (b *Binding) Evaluate() *Evaluation {
	e := new(Evaluation)
	e.Reset(b)
	return e
}

// Definition returns the hash of the tool's schema as the call's definition gave
// it, "" if it gave none.
func (b *Binding) Definition() string { return b.definition }

// ResultMode says whether the result of a call may be delivered, from the arguments
// that ran (D25-42, K32). A tool without result rules delivers.
func (b *Binding) ResultMode(executed *jsonstream.Document) stopgate.Verdict {
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
		e.judge(b.result, executed.Root())
	}
	return e.verdict
}

// binder builds one binding.
type binder struct {
	policies *Policies
	call     stopgate.Call
	under    Circumstances
	out      *Binding
	base     *schema.Schema // what the call's definition says
	voices   []*Voice
	matchers matchers
	known    *schema.Schema // what a known tool of this name declares, for guards; nil for nothing
	row      *schema.Schema // its parameters alone, whatever the definition says
	certain  bool           // the call is certainly one of the known tool, whose parameters it has
	output   bool           // the call is the form of the model's answer
	handoff  bool           // or a handoff
	passed   bool           // and passes the rules for all tools in some file
	sure     bool           // the call or an operator's file says that there is such a tool
}

func (b *binder) bind() {
	b.out.run, b.out.result = new(plan), new(plan)
	if !stopgate.ValidToolName(b.call.Tool) {
		b.refuse(stopgate.CodePolicyNotConfigured, "name")
		return
	}
	if !b.define() {
		return
	}
	b.recognise()
	if !b.listen() {
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

// define reads what the call's definition says. It reports false if the call is refused.
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
