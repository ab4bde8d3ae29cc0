package eval

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
)

// ToolPolicy is the part of one policy file that applies to a tool.
type ToolPolicy struct {
	*Layer
	Tables []*syntax.ToolTable // tables that apply, the most specific first
	// Applies is false if the file abstains: it has no table, or only "*" for an unknown tool.
	Applies  bool
	Schema   *schema.Schema
	Params   syntax.ParamAction
	OnSchema stopgate.Mode
	// Uncovered is the action for a permit when a parameter is present that it does not cover.
	Uncovered syntax.ParamAction

	setsOnSchema  bool // the file sets on_schema_violation for the tool
	setsUncovered bool // the file sets uncovered for the tool
	passes        bool // a setting permits the tool with any parameters
}

// ToolPolicies returns the tables of every file for the tool of a call, as far as they do not
// depend on rules. judged is false if the call is refused with any arguments.
func (p *Policies) ToolPolicies(c stopgate.Call) (policies []*ToolPolicy, judged bool) {
	b := &binder{policies: p, call: c, out: new(Binding)}
	judged = b.define() && b.recognise() && b.resolveTables()
	return b.toolPolicies, judged
}

// List returns the rules that apply and the name of their table (D25-04), nil if the file has none.
// many is set if the table is for many tools.
func (v *ToolPolicy) List(kind syntax.ListKind) (rules *syntax.RuleList, table string, many bool) {
	for _, t := range v.Tables {
		if list := t.List(kind); list != nil {
			return list, t.Name, syntax.IsGlob(t.Name)
		}
	}
	if len(v.Tables) == 0 {
		return nil, "", false
	}
	return nil, v.Tables[0].Name, syntax.IsGlob(v.Tables[0].Name)
}

// Covers reports whether a table of the file, by its name, asks about or denies parameters that a permit
// does not cover. Its permits then need cover, also those without conditions.
func (v *ToolPolicy) Covers(table string) bool {
	return slices.ContainsFunc(v.Tables, func(t *syntax.ToolTable) bool {
		return t.Name == table && t.Uncovered != nil && *t.Uncovered != syntax.ParamAllow
	})
}

// resolveTables finds the tables of every file for the tool. It returns false if the call is
// refused.
func (b *binder) resolveTables() bool {
	known := b.call.Definition != nil
	b.sure = known
	for _, l := range b.policies.layers {
		v := &ToolPolicy{Layer: l, Tables: l.File.TablesFor(string(b.call.Tool))}
		named := len(v.Tables) > 0 && v.Tables[0].Name != "*"
		known = known || named
		b.sure = b.sure || named && l.Trusted
		b.toolPolicies = append(b.toolPolicies, v)
	}
	b.out.unknown = !known || !slices.ContainsFunc(b.toolPolicies, func(v *ToolPolicy) bool { return len(v.Tables) > 0 })
	b.out.otherwise = b.unknownTool()
	applies := b.out.unknown && b.under.Governed
	for _, v := range b.toolPolicies {
		v.Applies = (known || b.under.Governed) && len(v.Tables) > 0
		applies = applies || v.Applies
		if !v.Applies {
			v.Tables = nil
		}
		b.pass(v)
		if !b.applySettings(v) {
			b.refuse(stopgate.CodePolicyInvalidForSchema, "overlay")
			return false
		}
	}
	b.inheritOnSchema()
	b.inheritUncovered()
	if !applies && b.out.otherwise == stopgate.Deny {
		b.refuse(stopgate.CodePolicyNotConfigured, "")
		return false
	}
	return true
}

// inheritOnSchema gives a file that does not set on_schema_violation the strictest setting of the
// trusted files: the default of one file does not override the setting of another one.
func (b *binder) inheritOnSchema() {
	set, mode := false, stopgate.Ask
	for _, v := range b.toolPolicies {
		if v.Trusted && v.setsOnSchema {
			set, mode = true, stopgate.Strictest(mode, v.OnSchema)
		}
	}
	for _, v := range b.toolPolicies {
		if set && !v.setsOnSchema {
			v.OnSchema = mode
		}
	}
}

// inheritUncovered applies the strictest setting for uncovered parameters of any file to all files;
// an untrusted one cannot loosen the others.
func (b *binder) inheritUncovered() {
	strictest := syntax.ParamAsk
	set := false
	for _, v := range b.toolPolicies {
		switch {
		case !v.setsUncovered || !v.Trusted && v.Uncovered == syntax.ParamAllow:
		case set:
			strictest = syntax.StrictestParams(strictest, v.Uncovered)
		default:
			set, strictest = true, v.Uncovered
		}
	}
	for _, v := range b.toolPolicies {
		v.Uncovered = strictest
	}
}

// applySettings takes the settings of one file's tables, each from the most specific table that has
// it (D25-04).
func (b *binder) applySettings(v *ToolPolicy) bool {
	v.Uncovered, v.setsUncovered = v.File.Gate.Uncovered, v.File.Gate.IsSet("uncovered")
	v.Params, v.OnSchema = v.File.UnknownParams(v.Tables), v.File.Gate.OnSchemaViolation
	v.setsOnSchema = v.File.Gate.IsSet("on_schema_violation")
	for i := len(v.Tables) - 1; i >= 0; i-- {
		t := v.Tables[i]
		if t.Uncovered != nil {
			v.Uncovered, v.setsUncovered = *t.Uncovered, true
		}
		if t.OnSchema != nil {
			v.OnSchema, v.setsOnSchema = *t.OnSchema, true
		}
	}
	own := syntax.DeclaredSchema(v.Tables, string(b.call.Tool), b.base)
	switch {
	case own == nil:
		v.Schema = b.typed()
	case b.base == nil:
		v.Schema = own
	default:
		merged, err := schema.Overlay(b.base, own)
		v.Schema = merged
		return err == nil
	}
	return true
}

// unknownTool returns the mode of a tool that no file knows: the strictest setting of the operators
// in [gate], or the default of the surface if there is none. An untrusted file may set "deny",
// since it may tighten everything.
func (b *binder) unknownTool() stopgate.Mode {
	gates := b.policies.Gates()
	mode := stopgate.Ask
	if len(gates) == 0 {
		mode = b.policies.unknownTool
	}
	for _, l := range b.policies.layers {
		if g := &l.File.Gate; !l.Trusted && g.IsSet("unknown_tool") {
			mode = stopgate.Strictest(mode, g.UnknownTool)
		}
	}
	for _, g := range gates {
		strictest := g.UnknownTool
		if !g.IsSet("unknown_tool") {
			strictest = b.policies.unknownTool
		}
		mode = stopgate.Strictest(mode, strictest)
	}
	return mode
}
