package eval

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// reachKey is a pointer of a rule in a schema.
type reachKey struct {
	schema *schema.Schema
	arg    *string // by address, since equal pointers of a file are one
	count  int
}

// reach returns the locations of a condition's pointer. It is cached, since thousands of rules may
// share a pointer.
func (c *compiler) reach(v *ToolPolicy, k *syntax.Condition) schema.Reach {
	if k.Every {
		return schema.Reach{Missing: -1, Locations: []*schema.Location{v.Schema.Location()}, Expanded: "*"}
	}
	key := reachKey{v.Schema, nil, len(k.Arg)}
	if len(k.Arg) > 0 {
		key.arg = &k.Arg[0]
	}
	if key == c.last && key.arg != nil {
		return c.at
	}
	r, ok := c.reached[key]
	if !ok {
		r = v.Schema.Reach(k.Arg)
		c.reached[key] = r
	}
	c.last, c.at = key, r
	return r
}

// bundleKey holds the common properties of all conditions of a bundle.
type bundleKey struct {
	pointer, on     string
	all, permissive bool
	env             *condition.Env
}

// gather bundles the rules of a list, and adds every condition to the plan and to the trie of
// pointers.
func (c *compiler) gather(v *ToolPolicy, l *list) {
	bundles := make(map[bundleKey]int32)
	l.firstOwn, l.firstBundle, l.firstCommand = c.plan.own, int32(len(c.plan.bundles)), c.plan.commands
	for i := l.first; i < l.end; i++ {
		r := &c.plan.rules[i]
		from, end := r.first, r.end
		if end-from == 1 && !l.suspects && c.bundles(v, &c.written[from]) {
			c.bundle(v, l, i, &c.written[from], bundles)
			continue
		}
		r.own = c.plan.own
		c.plan.own++
		l.own = append(l.own, i)
		r.first = int32(len(c.plan.conds))
		for k := from; k < end; k++ {
			c.written[k].suspects = l.suspects
			c.put(v, l, c.written[k], c.written[k].ast.Arg)
		}
		r.end = int32(len(c.plan.conds))
	}
	l.endBundle = int32(len(c.plan.bundles))
	c.plan.commands += l.commands
}

// put adds a condition and the site of its leaves.
func (c *compiler) put(v *ToolPolicy, l *list, k cond, arg jsonstream.Pointer) {
	p, id := c.part(v), int32(len(c.plan.conds))
	if k.command >= 0 {
		k.command = l.commands
		l.commands++
		l.single = append(l.single, id)
	}
	switch {
	case k.suspects: // see suspicion
	case k.on != "":
		p.ons = append(p.ons, id)
	default:
		k.sites = 1
		p.insert(v.Schema, arg, id, int32(len(c.plan.sites)))
		c.plan.sites = append(c.plan.sites, id)
	}
	c.plan.conds = append(c.plan.conds, k)
}

// bundles reports whether an index supports a condition: it compares plain text, paths, numbers,
// booleans or command lines with literals of the rule.
func (c *compiler) bundles(v *ToolPolicy, of *cond) bool {
	k := of.ast
	if of.command >= 0 {
		return c.bundlesLines(v, k)
	}
	switch k.Spec.Kind {
	case condition.Const, condition.Enum:
		if slices.ContainsFunc(k.Spec.Values, func(l condition.Literal) bool {
			return l.Kind == condition.LiteralObject || l.Kind == condition.LiteralNull
		}) {
			return false
		}
	case condition.Prefix, condition.Suffix, condition.Glob, condition.Pattern, condition.Minimum, condition.Maximum, condition.ExclusiveMinimum, condition.ExclusiveMaximum:
	default:
		return false
	}
	if k.On != "" {
		return k.On == "path" || k.On == "string"
	}
	return !slices.ContainsFunc(c.reach(v, k).Locations, func(p *schema.Location) bool { return p.Runs() || p.HasWithin(schema.URL) })
}

// bundle adds a rule to the bundle of its pointer.
func (c *compiler) bundle(v *ToolPolicy, l *list, rule int32, k *cond, bundles map[bundleKey]int32) {
	key := bundleKey{pointer: k.pointer, on: k.on, all: k.all, permissive: k.permissive, env: k.env}
	id, ok := bundles[key]
	if !ok {
		id = int32(len(c.plan.conds))
		bundles[key] = id
		shared := *k
		shared.rule, shared.kind, shared.ast, shared.bundle = -1, "", nil, int32(len(c.plan.bundles))
		c.plan.bundles = append(c.plan.bundles, bundle{all: literal.Empty(), commands: k.command >= 0})
		c.conditions = append(c.conditions, nil)
		c.put(v, l, shared, k.ast.Arg)
	}
	n := c.plan.conds[id].bundle
	b, r := &c.plan.bundles[n], &c.plan.rules[rule]
	b.rules = append(b.rules, rule)
	b.all.Add(rule, uint8(r.mode))
	c.conditions[n] = append(c.conditions[n], k.ast)
	r.first, r.end, r.sole = id, id+1, k.ast
}
