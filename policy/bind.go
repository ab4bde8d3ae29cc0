package policy

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/syntax"
	"github.com/stopgate/stopgate/schema"
)

// Binding is a program applied to one tool, one definition of it and the constant
// facts of a call: agent, surface, server and principal. It is immutable and safe
// for concurrent use; calls that agree in these can share it.
type Binding struct {
	run, result *plan
	// refused is the terminal verdict of a call that is not judged at all.
	refused *stopgate.Verdict
	cause   string
	// emptyMeansNone: empty argument text stands for no arguments (THREATS A14).
	emptyMeansNone bool
	definition     string
	// unknown: no file knows the tool; otherwise is what becomes of it then.
	unknown   bool
	otherwise stopgate.Mode
}

// Bind resolves everything about a call that does not depend on its arguments:
// which tables apply, which rules their conditions on the call leave, how they fit
// the tool's schema. It never fails: what cannot be judged denies. Nothing is known
// of the call's session, see [Program.BindUnder].
func (p *Program) Bind(c stopgate.Call) *Binding { return p.BindUnder(c, Circumstances{}) }

// BindUnder is Bind under circumstances that are known.
func (p *Program) BindUnder(c stopgate.Call, under Circumstances) *Binding {
	b := &binder{program: p, call: c, under: under, out: new(Binding)}
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
	program *Program
	call    stopgate.Call
	under   Circumstances
	out     *Binding
	base    *schema.Schema // what the call's definition says
	voices  []*voice
}

// voice is what one file says about the tool.
type voice struct {
	*layer
	tables []*syntax.ToolTable // that apply, the most specific first
	// speaks is false if the file abstains: it has no table, or only "*" and nobody
	// knows the tool.
	speaks   bool
	schema   *schema.Schema
	params   syntax.ParamAction
	onSchema stopgate.Mode
}

func (b *binder) bind() {
	b.out.run, b.out.result = new(plan), new(plan)
	if !stopgate.ValidToolName(b.call.Tool) {
		b.refuse(stopgate.CodePolicyNotConfigured, "name")
		return
	}
	if d := b.call.Definition; d != nil {
		b.out.emptyMeansNone = d.EmptyMeansNone
		if len(d.Schema) > 0 {
			s, _, err := schema.ParseJSON(d.Schema)
			if err != nil {
				b.refuse(stopgate.CodePolicyInvalidForSchema, "schema")
				return
			}
			b.base, b.out.definition = s, s.Hash()
		}
	}
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

func (b *binder) refuse(code stopgate.Code, cause string) {
	b.out.run, b.out.result = new(plan), new(plan)
	b.out.refused = &stopgate.Verdict{Decided: true, Mode: stopgate.Deny, Layer: stopgate.LayerIntegrity, Code: code, Public: code.Public()}
	b.out.cause = cause
}

// listen finds out what every file says about the tool. It reports false if the
// call is refused.
func (b *binder) listen() bool {
	known := b.call.Definition != nil
	for _, l := range b.program.layers {
		v := &voice{layer: l, tables: l.policy.TablesFor(string(b.call.Tool))}
		known = known || len(v.tables) > 0 && v.tables[0].Name != "*"
		b.voices = append(b.voices, v)
	}
	b.out.unknown = !known || !slices.ContainsFunc(b.voices, func(v *voice) bool { return len(v.tables) > 0 })
	b.out.otherwise = b.unknownTool()
	speaks := b.out.unknown && b.under.Governed
	for _, v := range b.voices {
		v.speaks = (known || b.under.Governed) && len(v.tables) > 0
		speaks = speaks || v.speaks
		if !v.speaks {
			v.tables = nil
		}
		if !b.hear(v) {
			b.refuse(stopgate.CodePolicyInvalidForSchema, "overlay")
			return false
		}
	}
	if !speaks && b.out.otherwise == stopgate.Deny {
		b.refuse(stopgate.CodePolicyNotConfigured, "")
		return false
	}
	return true
}

// hear takes the settings of one file's tables, each from the most specific table
// that has it (D25-04).
func (b *binder) hear(v *voice) bool {
	v.params, v.onSchema = v.policy.Gate.UnknownParams, v.policy.Gate.OnSchemaViolation
	for i := len(v.tables) - 1; i >= 0; i-- {
		t := v.tables[i]
		if t.Unknown != nil {
			v.params = *t.Unknown
		}
		if t.OnSchema != nil {
			v.onSchema = *t.OnSchema
		}
	}
	own := declared(v.tables, string(b.call.Tool), b.base)
	switch {
	case own == nil:
		v.schema = b.base
	case b.base == nil:
		v.schema = own
	default:
		merged, err := schema.Overlay(b.base, own)
		v.schema = merged
		return err == nil
	}
	return true
}

// unknownTool is what happens to a tool that no file knows: what the operators say in
// [gate], the strictest of them, and what the surface does where one says nothing.
func (b *binder) unknownTool() stopgate.Mode {
	gates := b.program.gates()
	if len(gates) == 0 {
		return b.program.unknownTool
	}
	mode := stopgate.Ask
	for _, g := range gates {
		said := g.UnknownTool
		if !g.Says("unknown_tool") {
			said = b.program.unknownTool
		}
		mode = stopgate.Strictest(mode, said)
	}
	return mode
}
