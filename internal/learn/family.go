package learn

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// family drafts rules for units of one shape.
type family struct {
	tool   *toolCalls
	effect effect
	width  width
	free   []string // parameters that stay open in every rule
	// varying are the parameters that the tool's row in the table of known tools lets vary.
	varying []string
	// pool are all approved calls of the tool, without the parameters that stay open.
	pool []unit
}

// varies reports whether other words in a parameter are the same action, as the table of known tools has it.
func (f *family) varies(arg string, kind schema.Annotation) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "/"), "/")
	return kind == schema.None && slices.Contains(f.varying, name)
}

// without leaves out parameters that do not say what a call is about: where the tool looks, numbers and truth
// values of which the approvals have several; what a tool that writes may write, as the table of known tools
// has it; where its own table names the parameters that matter, truth values and texts that it does not name.
func (f *family) without(units []unit) []unit {
	if f.effect == acts || units[0].words != nil {
		return units
	}
	f.free = nil
	for _, arg := range argsOf(units) {
		having := slices.DeleteFunc(slices.Clone(units), func(u unit) bool { return u.leaf(arg) == nil })
		values := valuesOf(having, arg)
		switch plain, name := having[0].leaf(arg).kind == schema.None, arg[strings.LastIndexByte(arg, '/')+1:]; {
		case !plain, slices.ContainsFunc(having, func(u unit) bool { return u.wanted }):
		case f.effect == writes && f.varies(arg, having[0].leaf(arg).kind),
			f.tool.own && !f.tool.states(arg) && (truths(values) || slices.Contains(texts, name) || contents(having, arg)),
			f.effect == looks && !f.tool.own && f.enough(having, len(values)) && numbers(values):
			f.free = append(f.free, arg)
		}
	}
	return f.closed(units)
}

// closed returns units without the parameters that stay open.
func (f *family) closed(units []unit) []unit {
	list := slices.Clone(units)
	for i := range list {
		list[i].leaves = slices.DeleteFunc(slices.Clone(list[i].leaves), func(l leaf) bool { return slices.Contains(f.free, l.arg) })
	}
	return list
}

// argsOf are the parameters of units.
func argsOf(units []unit) (args []string) {
	for i := range units {
		for _, l := range units[i].leaves {
			if !slices.Contains(args, l.arg) {
				args = append(args, l.arg)
			}
		}
	}
	return args
}

func contents(units []unit, arg string) bool {
	return slices.ContainsFunc(units, func(u unit) bool { return u.leaf(arg).content() })
}

func numbers(values []value) bool {
	return !slices.ContainsFunc(values, func(v value) bool { return v.is != jsonstream.Number || strings.HasPrefix(v.json, "-") })
}

// drafts returns rules that together permit the units, as far as the approvals are enough for them.
func (f *family) drafts(units []unit) []draft {
	if units[0].wanted || f.effect == acts && len(f.varying) == 0 {
		return f.exactly(units)
	}
	var drafts []draft
	f.cut(units, nil, &drafts)
	return drafts
}

// cut takes the first parameter that is not decided yet, and cuts the units into groups that are equal in
// it, or that a generalisation covers.
func (f *family) cut(units []unit, terms []term, drafts *[]draft) {
	arg, kind := f.next(units, terms)
	if arg == "" {
		f.finish(units, terms, drafts)
		return
	}
	with := func(units []unit, t term) { f.cut(units, append(slices.Clone(terms), t), drafts) }
	values := valuesOf(units, arg)
	if t, ok := f.open(units, arg, kind, values); ok {
		with(units, t)
		return
	}
	if f.effect != acts && (kind == schema.Path || kind == schema.URL) {
		groups := f.directories(units, arg)
		if kind == schema.URL {
			groups = f.hosts(units, arg)
		}
		for _, g := range groups {
			if g.term.condition != "" {
				with(g.units, g.term)
			} else {
				f.equal(g.units, arg, with)
			}
		}
		return
	}
	if t, ok := f.like(units, arg, kind, values); ok {
		with(units, t)
		return
	}
	f.equal(units, arg, with)
}

// equal cuts units into groups with equal values.
func (f *family) equal(units []unit, arg string, with func([]unit, term)) {
	for _, g := range group(units, func(u *unit) string { return u.leaf(arg).key() }) {
		if t, ok := oneOf(arg, valuesOf(g, arg)); ok {
			with(g, t)
		}
	}
}

// next returns the next parameter to decide: first those that may become open or alike, which need all
// units, then targets, then the others, those with the fewest values first.
func (f *family) next(units []unit, terms []term) (arg string, kind schema.Annotation) {
	best := 1 << 30
	for _, l := range units[0].leaves {
		if slices.ContainsFunc(terms, func(t term) bool { return t.arg == l.arg }) {
			continue
		}
		values := valuesOf(units, l.arg)
		rank := len(values)
		if _, ok := f.open(units, l.arg, l.kind, values); ok {
			rank = 0
		} else if l.kind == schema.Path || l.kind == schema.URL {
			rank += 1 << 20
		}
		if rank < best {
			best, arg, kind = rank, l.arg, l.kind
		}
	}
	return arg, kind
}

// texts are parameters for what a call looks for, writes or describes, and never for where.
var texts = strings.Fields(`content contents context_lines description insert_text keyword keywords message needle new new_source new_str new_string
	old old_str old_string pattern patterns query reason regex replacement search string_to_replace term terms text title`)

// open reports whether any value of a parameter will do: a plain text of a tool that looks or writes,
// different in every call or too long for a rule.
func (f *family) open(units []unit, arg string, kind schema.Annotation, values []value) (term, bool) {
	if kind != schema.None {
		return term{}, false
	}
	known, long := true, false
	for i := range units {
		l := units[i].leaf(arg)
		known, long = known && l.known, long || l.content()
	}
	name := arg[strings.LastIndexByte(arg, '/')+1:]
	plain := !slices.ContainsFunc(values, func(v value) bool { return v.is != jsonstream.String })
	switch {
	case !known, !plain:
		return term{}, false
	case long && f.effect == writes:
	case f.effect != acts && slices.Contains(texts, name) && f.width > exact && f.enoughTexts(units, len(values)):
	default:
		return term{}, false
	}
	return term{arg: arg, sentence: "any text in " + arg}, true
}

// enough reports whether the approvals of units are enough for values that nobody has seen.
func (f *family) enough(units []unit, values int) bool {
	if f.effect == looks {
		return supportOf(units).looking(values)
	}
	return supportOf(units).wide(values)
}

// enoughTexts is enough for a text that says what is looked for or written, and not where: of a tool that only
// looks, two of them are.
func (f *family) enoughTexts(units []unit, values int) bool {
	return f.enough(units, values) || f.effect == looks && values >= fewValues && supportOf(units).exact()
}

// address reports whether a text may say where something goes: a path, a URL, an address of mail.
func address(text string) bool {
	return strings.Contains(text, "://") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.HasPrefix(text, "..") ||
		strings.Contains(text, "@") && !strings.Contains(text, " ")
}

// like reports whether the values are words or numbers of one kind that support permits to go on.
func (f *family) like(units []unit, arg string, kind schema.Annotation, values []value) (term, bool) {
	if f.width <= exact {
		return term{}, false
	}
	if f.varies(arg, kind) {
		// The table has it that other words are the same action: the approvals show that it comes again.
		by := f.varyingKin(units)
		if !supportOf(by).looking(different(by, arg)) {
			return term{}, false
		}
		t, ok := alike(arg, values)
		return t.with(units, by), ok
	}
	if f.effect != looks || !f.enough(units, len(values)) {
		return term{}, false
	}
	return alike(arg, values)
}

// finish ends a draft.
func (f *family) finish(units []unit, terms []term, drafts *[]draft) {
	all, ok := f.tool.expressible(append(slices.Clone(terms), f.absent(units[0].leaves)...))
	if !ok {
		return
	}
	d := draft{tool: f.tool.name, how: Exactly, width: f.width, terms: all, units: units}
	for _, t := range terms {
		switch {
		case strings.HasPrefix(t.condition, "prefix"), strings.HasPrefix(t.condition, "glob"):
			d.how = Directory
		case strings.HasPrefix(t.condition, "host"), d.how == Exactly && strings.HasPrefix(t.condition, "scheme"):
			d.how = Host
		case d.how == Exactly && (t.condition == "" || strings.HasPrefix(t.condition, "pattern") || strings.HasPrefix(t.condition, "minimum")):
			d.how = Tool
		}
	}
	d.by = f.restsOn(units, all)
	if !supportOf(d.evidence()).exact() {
		return
	}
	*drafts = append(*drafts, d)
}

// exactly drafts one rule for each call.
func (f *family) exactly(units []unit) (drafts []draft) {
	narrowest := *f
	narrowest.width = min(f.width, exact)
	for _, g := range group(units, func(u *unit) string {
		var b strings.Builder
		for _, l := range u.leaves {
			b.WriteString(l.arg + "\x00" + l.key() + "\x00")
		}
		return b.String()
	}) {
		var terms []term
		whole := true
		for _, l := range g[0].leaves {
			t, ok := oneOf(l.arg, valuesOf(g, l.arg))
			whole = whole && ok && !l.content()
			terms = append(terms, t)
		}
		if whole {
			narrowest.finish(g, terms, &drafts)
		}
	}
	return drafts
}
