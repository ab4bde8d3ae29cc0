package eval

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// compiler compiles the tables of a tool to a plan.
type compiler struct {
	*binder
	kind    syntax.ListKind
	plan    *plan
	reached map[reachKey]schema.Reach
	last    reachKey // of the latest pointer, which the next rule often has too
	at      schema.Reach
	// written are the conditions of the current list, in rule order.
	written []cond
	// conditions are those of the rules of each bundle.
	conditions [][]*syntax.Condition
	late       *lateMatchers
	parts      []*part
	trouble    string // why the policy does not fit the schema
}

// part is a view under construction.
type part struct {
	view       *view
	pointer    *trie
	ids        int
	ons        []int32
	suspicions []*suspicion
}

func newCompiler(b *binder, kind syntax.ListKind) *compiler {
	return &compiler{binder: b, kind: kind, plan: &plan{table: b.policies.table}, reached: make(map[reachKey]schema.Reach), late: &lateMatchers{all: make(matchers)}}
}

// compile returns false if a rule does not fit the tool's schema: the tool is then denied, since
// its rules must not be skipped silently.
func (c *compiler) compile() bool {
	if c.kind == syntax.RunList {
		c.flows()
		for _, v := range c.toolPolicies {
			c.list(v, list{layer: stopgate.LayerGuard, fallback: stopgate.Unattended, guard: true}, v.File.Guards, "", true)
			c.knownGuards(v)
			c.suspicion(v)
		}
	}
	applied := false
	for _, v := range c.toolPolicies {
		if !v.Applies {
			c.part(v) // its guards apply, and its definition is evaluated
			continue
		}
		applied = true
		if !c.addPolicy(v) {
			return false
		}
	}
	if !applied && c.kind == syntax.RunList {
		c.unknown()
	}
	return c.graphs()
}

// addPolicy adds the rule list of a file that applies.
func (c *compiler) addPolicy(v *ToolPolicy) bool {
	p := c.part(v)
	if c.kind == syntax.RunList {
		p.view.tighten(v)
	}
	rules, table, many := v.List(c.kind)
	if rules == nil && c.kind == syntax.ResultList {
		return true // without result rules results are delivered (K32)
	}
	l := list{layer: stopgate.LayerRules, fallback: stopgate.Ask, code: stopgate.CodeNoRuleMatched}
	l.note.lowered = !v.Trusted && !c.trusted()
	l.note.table = table
	l.cover(v, c.kind, p.view)
	var written []*syntax.Rule
	if rules != nil {
		written = rules.Rules
	}
	return c.list(v, l, written, table, many)
}

// trusted reports whether a file of the operator applies to the tool. If none does, calls that a
// project file permits are asked about (K35). A table "*" applies to the tools that exist, which a
// project file does not determine (I15).
func (b *binder) trusted() bool {
	return b.sure && slices.ContainsFunc(b.toolPolicies, func(v *ToolPolicy) bool { return v.Applies && v.Trusted })
}

// tighten makes a view as strict as the settings of a file.
func (w *view) tighten(v *ToolPolicy) {
	if !w.applies {
		w.applies, w.params, w.onSchema = true, v.Params, v.OnSchema
	}
	w.params = syntax.StrictestParams(w.params, v.Params)
	w.onSchema = stopgate.Strictest(w.onSchema, v.OnSchema)
	if !slices.Contains(w.protected, v.Protected) {
		w.protected = append(w.protected, v.Protected)
	}
}

// part returns the view of a file; files with the same schema share one.
func (c *compiler) part(v *ToolPolicy) *part {
	return c.partOf(v.Schema)
}

func (c *compiler) partOf(s *schema.Schema) *part {
	for _, p := range c.parts {
		if p.view.schema == s {
			return p
		}
	}
	p := &part{view: &view{schema: s}, pointer: new(trie)}
	c.parts = append(c.parts, p)
	c.plan.views = append(c.plan.views, p.view)
	return p
}

// list adds a list with the rules that apply to this call. Rules for many tools are skipped if a
// tool lacks their parameter (D25-47), unless a call may have it all the same, and so are those of
// packs, which know tools in several versions; a rule of the tool's own table that does not fit its
// schema is an error.
func (c *compiler) list(v *ToolPolicy, l list, rules []*syntax.Rule, table string, forMany bool) bool {
	l.first = int32(len(c.plan.rules))
	l.note.file, l.note.table = v.File.Name, table
	c.written, c.plan.rules = c.written[:0], slices.Grow(c.plan.rules, len(rules))
	for _, r := range rules {
		if !c.applies(r) {
			l.note.skipped = append(l.note.skipped, skippedRule{r, "its conditions on the call do not hold"})
			continue
		}
		if reason, missing := c.misfit(v, r, forMany || r.Pack != ""); reason != "" {
			if !forMany && !(missing && r.Pack != "") {
				c.trouble = reason
				return false
			}
			l.note.skipped = append(l.note.skipped, skippedRule{r, reason})
			continue
		}
		c.rule(v, r, l.note.lowered)
		c.plan.rules[len(c.plan.rules)-1].cover(&l, r, v, table)
	}
	l.end = int32(len(c.plan.rules))
	if l.suspects {
		l.note.skipped = nil // noted in the list of all guards
	}
	c.commands(v, &l)
	c.gather(v, &l)
	c.suspect(v, &l)
	if l.guard && l.first == l.end && len(l.note.skipped) == 0 {
		return true
	}
	c.plan.lists = append(c.plan.lists, l)
	return true
}

// misfit returns why a rule does not fit the tool's schema, "" if it does, and whether a parameter is missing.
func (c *compiler) misfit(v *ToolPolicy, r *syntax.Rule, forMany bool) (reason string, missing bool) {
	for i := range r.Conditions {
		k := &r.Conditions[i]
		if k.On != "" {
			continue
		}
		reach := c.reach(v, k)
		if reach.Missing >= 0 {
			if forMany && v.brings(r, k) {
				continue
			}
			return "the tool has no parameter " + k.Arg.String(), true
		}
		if k.Spec.Kind == condition.Present {
			continue
		}
		probe := cond{permissive: r.Mode.Permissive(), kind: k.Spec.Kind, ast: k, accompanied: true, origin: k.Spec.Row().Sources, env: &v.Layer.Env}
		if len(reach.Locations) == 0 { // the schema does not describe it
			continue
		}
		late := len(r.Conditions) == 1 && c.bundlesLines(v, k)
		if !slices.ContainsFunc(reach.Locations, func(p *schema.Location) bool { return c.matchers.fits(&probe, p, late) }) {
			return k.Spec.Kind.String() + " does not fit the parameter " + k.Arg.String(), false
		}
	}
	return "", false
}

// brings reports whether a condition of a restrictive rule may hold for a call although the tool
// has no such parameter, because undeclared parameters are neither refused nor asked about.
func (v *ToolPolicy) brings(r *syntax.Rule, k *syntax.Condition) bool {
	return (!v.Applies || v.Params == syntax.ParamAllow) && MayHoldUndeclared(r, k)
}

// MayHoldUndeclared reports whether a condition can hold for a parameter which no schema declares,
// if calls may have one.
func MayHoldUndeclared(r *syntax.Rule, k *syntax.Condition) bool {
	if r.Mode.Permissive() {
		return false
	}
	there, _ := k.Spec.Presence()
	return k.Spec.Kind != condition.Present || there
}

// rule adds a rule and its conditions, whose indices are those among the written ones until the list
// is gathered.
func (c *compiler) rule(v *ToolPolicy, r *syntax.Rule, lowered bool) {
	ref := r.Ref(v.File.Name)
	out := rule{first: int32(len(c.written)), mode: r.Mode, list: int32(len(c.plan.lists)), ref: &ref, public: r.Reason, same: -1}
	if r.SameText && r.Mode.Permissive() { // a rule that restricts suspects one text
		out.same = c.plan.same
		c.plan.same++
	}
	if lowered && r.Mode.Permissive() {
		out.mode, out.lowered = stopgate.Ask, true
	}
	if out.public == "" {
		out.public = codeOf(out.mode).Public()
	}
	for i := range r.Conditions {
		c.condition(v, r, &r.Conditions[i])
	}
	out.own = -1
	out.end = int32(len(c.written))
	c.plan.rules = append(c.plan.rules, out)
}

// condition adds a condition of the current rule. Its polarity is that of the rule's mode as
// written, even if another mode applies.
func (c *compiler) condition(v *ToolPolicy, r *syntax.Rule, k *syntax.Condition) {
	permissive := r.Mode.Permissive()
	out := cond{
		rule: int32(len(c.plan.rules)), list: int32(len(c.plan.lists)), bundle: -1, on: k.On, permissive: permissive, all: permissive,
		kind: k.Spec.Kind, env: &v.Layer.Env, command: -1, ast: k, origin: k.Spec.Row().Sources,
	}
	c.plan.origins = c.plan.origins || out.origin
	for _, q := range []syntax.Quantifier{r.Match, k.Match} {
		if q != syntax.QuantifierDefault {
			out.all = q == syntax.QuantifierAll
		}
	}
	out.null, _ = k.Spec.NamesNull()
	if k.Spec.Kind == condition.Present {
		out.want, out.value = k.Spec.Presence()
	}
	if k.On == "" {
		out.pointer, out.expanded = k.Arg.String(), c.reach(v, k).Expanded
	}
	if out.origin && permissive {
		out.accepts = accepts(v.File, &out)
	}
	c.written = append(c.written, out)
}

// commands finds the conditions of a list on command lines. A line may have several commands, and a
// call several lines: the list is evaluated once for each command, and the strictest result applies
// (K29). A guard with one condition is restrictive for each of them anyway.
func (c *compiler) commands(v *ToolPolicy, l *list) {
	for i := l.first; i < l.end; i++ {
		r := &c.plan.rules[i]
		if l.guard && r.end-r.first == 1 {
			continue
		}
		for k := r.first; k < r.end; k++ {
			cond := &c.written[k]
			reach := c.reach(v, cond.ast)
			if _, onlyNull := cond.ast.Spec.NamesNull(); onlyNull || cond.kind == condition.Present || cond.origin || counts(cond.kind) || !slices.ContainsFunc(reach.Locations, (*schema.Location).Runs) {
				continue
			}
			cond.command = 0 // numbered when it is put into the plan
			r.commands = true
		}
	}
}

// insert adds a condition's pointer to the trie of its view. "*" matches the elements of an array
// if the schema has one or is unknown; otherwise it is a key (K22).
func (p *part) insert(s *schema.Schema, arg jsonstream.Pointer, cond, site int32) {
	t := p.pointer
	for i, token := range arg {
		if token == "*" {
			if r := s.Reach(arg[:i]); i > 0 && (r.Unknown || r.Types&schema.Array != 0) {
				t = t.elements(&p.ids)
				continue
			}
		}
		t = t.child(token, &p.ids)
	}
	t.conds, t.sites = append(t.conds, cond), append(t.sites, site)
}

// unknown makes the plan of an unknown tool ask, if the operator configures that. If
// session policies also decide about the tool, no list applies (S2).
func (c *compiler) unknown() {
	c.partOf(c.base).view.applies = true
	n := int32(len(c.plan.rules))
	l := list{first: n, end: n, layer: stopgate.LayerIntegrity, fallback: stopgate.Ask, code: stopgate.CodePolicyNotConfigured}
	if c.under.Governed {
		l.layer, l.fallback, l.code = stopgate.LayerGate, stopgate.Unattended, stopgate.CodeRuleMatched
	}
	c.plan.lists = append(c.plan.lists, l)
}

// graphs builds the shapes of every view.
func (c *compiler) graphs() bool {
	for _, p := range c.parts {
		g := &grapher{plan: c.plan, view: p.view, ons: p.ons, suspicions: p.suspicions, conditions: c.conditions, matchers: c.matchers, late: c.late}
		if !g.graph(p.pointer) {
			c.trouble = "the schema is too large"
			return false
		}
	}
	return true
}
