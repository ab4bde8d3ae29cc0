package symbolic

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/inclusion"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// holds asks the condition about a leaf. A string that may be read in several ways
// satisfies a permissive condition in all of them, a restrictive one in any.
func (k *Condition) holds(v analysis.Value) bool {
	permissive := k.Rule.Mode.Permissive()
	for i, m := range k.built() {
		if k.holdsAs(m, k.Readings[i], v) != permissive {
			return !permissive
		}
	}
	return permissive
}

func (k *Condition) holdsAs(m *match.Matcher, reading schema.Annotation, v analysis.Value) bool {
	switch v.Kind {
	case analysis.Text:
		text := v.Text
		if reading == schema.Path && k.Readings[0] == schema.Path {
			text = pathname.PathText(text)
		}
		value := k.scratch(text)
		if reading == schema.Command {
			// The first command speaks for all: each is judged by itself (K29).
			return m.JudgeCommand(value, 0)
		}
		return m.Judge(value)
	case analysis.Number:
		return m.Number(v.Number)
	case analysis.Boolean:
		return m.Bool(v.True)
	}
	return m.Canonical([]byte(v.Text))
}

// scratch is the value of a text. Many conditions are asked about one text.
func (k *Condition) scratch(text string) *condition.Value {
	scratch := &k.memory.scratch
	if string(scratch.Text()) != text {
		scratch.Reset([]byte(text))
	}
	return scratch
}

// sets translates the leaves that a condition accepts: set holds those that it takes from
// the rules below, named those among which a witness for it is searched.
func (k *Condition) sets() (set, named *analysis.Set) {
	set = &analysis.Set{Intervals: k.intervals()}
	for _, lit := range k.Spec.Values {
		switch {
		case !isFinite(k):
		case lit.Kind == condition.LiteralBool && lit.Text == "true":
			set.True = true
		case lit.Kind == condition.LiteralBool:
			set.False = true
		case lit.Kind == condition.LiteralObject:
			set.Objects = append(set.Objects, lit.JSON)
		}
	}
	if k.Spec.Kind.IsRange() {
		return set, set
	}
	both := *set
	named = &both
	set.Texts, named.Texts = k.texts()
	return set, named
}

// texts translates the strings.
func (k *Condition) texts() (set, named analysis.Texts) {
	permissive := k.Rule.Mode.Permissive()
	literals := k.Spec.Kind == condition.Const || k.Spec.Kind == condition.Enum || k.Spec.Kind == condition.Prefix
	if literals && k.plainLiterals() {
		for _, lit := range k.Spec.Values {
			if lit.Kind == condition.LiteralString {
				k.literal(&named, lit.Text)
			}
		}
		set = named
		if path := len(k.Readings) == 1 && k.Readings[0] == schema.Path; path && !permissive {
			set.Folded = true
			set.Exact, set.Below = folded(named.Exact), folded(named.Below)
		}
		return set, named
	}
	if isFinite(k) && !slices.ContainsFunc(k.Spec.Values, func(lit condition.Literal) bool { return lit.Kind == condition.LiteralString }) {
		return set, named
	}
	if len(k.Readings) == 1 && (k.Readings[0] == schema.None || k.Readings[0] == schema.Path || k.Readings[0] == schema.URL) {
		if k.Spec.Kind == condition.Pattern && len(k.Spec.Values) == 1 {
			if p := inclusion.SinglePattern(k.built()[0]); p != nil {
				set, named = k.pattern(p)
				if p.Size() <= fewParts {
					return set, named // its automaton is made where it is needed
				}
			}
		}
		if head := k.head(); permissive || k.Readings[0] == schema.None {
			named.Head = head
			if permissive {
				set.Head = head
			}
		} else {
			set.Folded, set.Head = true, strings.ToLower(head)
		}
		k.literalPart(&set)
		var ok bool
		if set.Languages, named.Languages, ok = k.languages(); ok {
			set.All, named.All = k.Spec.Kind == condition.Outside, k.Spec.Kind == condition.Outside
			return set, named
		}
	}
	// Conditions without an automaton are compared by samples, and by their
	// matchers.
	open := analysis.Texts{Open: true}
	if !slices.ContainsFunc(k.Readings, func(a schema.Annotation) bool { return a != schema.None && a != schema.Path }) {
		k.literalPart(&open)
	} else if len(k.Readings) == 1 {
		open.Keys, open.Part = inclusion.Keys(k.built()[0]), inclusion.Part(k.built()[0])
	}
	return open, analysis.Texts{Open: true, Exact: k.samples()}
}

// pattern translates a single pattern.
func (k *Condition) pattern(p *regular.Pattern) (set, named analysis.Texts) {
	permissive := k.Rule.Mode.Permissive()
	set.Languages = []analysis.Language{{Walkers: sync.OnceValue(func() []automaton.Walker { return inclusion.Walkers(k.built()[0]) })}}
	named.Languages = []analysis.Language{{Walkers: sync.OnceValue(func() []automaton.Walker { return inclusion.Named(k.built()[0]) })}}
	set.CaseToo = !permissive && k.Readings[0] == schema.Path
	set.Language, set.Contains = p.Language, p.Literal()
	named.Samples = func() []string {
		text := p.Sample()
		return []string{text, text + "x", "x" + text}
	}
	return set, named
}

// literalPart sets the literal that is part of every text of a glob or of a suffix.
func (k *Condition) literalPart(t *analysis.Texts) {
	if len(k.Spec.Values) != 1 || k.Spec.Kind != condition.Glob && k.Spec.Kind != condition.Suffix {
		return
	}
	text, path := k.Spec.Values[0].Text, slices.Contains(k.Readings, schema.Path)
	if path && (text == "" || strings.ContainsRune("/~.{", rune(text[0]))) || !isASCII(text) {
		return // such a path may be above the root
	}
	if k.Spec.Kind == condition.Glob {
		text = longestLiteral(text)
	}
	if path {
		text = strings.Trim(text, "/") // "**/x" also matches "x"
		t.CaseToo = !k.Rule.Mode.Permissive()
	}
	if t.Contains = text; t.CaseToo {
		t.Contains = strings.ToLower(text)
	}
}

// longestLiteral is the longest part of a glob that is in every text that it matches. It is
// empty for globs with escapes and exceptions.
func longestLiteral(text string) (longest string) {
	if strings.ContainsAny(text, `\(`) {
		return ""
	}
	depth, from := 0, 0 // in braces; where the part begins
	end := func(at int) {
		if depth == 0 && at-from > len(longest) {
			longest = text[from:at]
		}
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[':
			end(i)
			first := min(i+2, len(text)) // "]" may be the first of a class
			if first < len(text) && text[i+1] == '!' {
				first++
			}
			class := strings.IndexByte(text[min(first, len(text)):], ']')
			if class < 0 {
				return ""
			}
			i = first + class
			from = i + 1
		case '{':
			end(i)
			depth++
		case '}':
			depth, from = depth-1, i+1
		case '*', '?':
			end(i)
			from = i + 1
		}
		if depth < 0 {
			return ""
		}
	}
	end(len(text))
	return longest
}

// fewParts is the size of patterns whose automata are taken to be small before they are
// made.
const fewParts = 64

// literal adds the texts that a literal names. "src" and "src/" are one on paths (K20); a value
// that may be a path or a text has to begin as both.
func (k *Condition) literal(t *analysis.Texts, text string) {
	path := slices.Contains(k.Readings, schema.Path)
	trimmed := strings.TrimSuffix(text, "/")
	switch {
	case k.Spec.Kind != condition.Prefix:
		t.Exact = append(t.Exact, text)
	case !path || len(k.Readings) > 1 && (!k.Rule.Mode.Permissive() || trimmed != text):
		t.Below = append(t.Below, text)
	default:
		t.Exact, t.Below = append(t.Exact, trimmed), append(t.Below, trimmed+"/")
	}
}

// plainLiterals reports literals that are compared as they are written: texts, and
// relative ASCII paths.
func (k *Condition) plainLiterals() bool {
	for _, a := range k.Readings {
		if a != schema.None && a != schema.Path {
			return false
		}
	}
	if !slices.Contains(k.Readings, schema.Path) {
		return true
	}
	return !slices.ContainsFunc(k.Spec.Values, func(lit condition.Literal) bool {
		text := lit.Text
		return lit.Kind == condition.LiteralString &&
			(text == "" || text[0] == '/' || text[0] == '~' || text == ".." || strings.HasPrefix(text, "../") || !isASCII(text))
	})
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

func folded(list []string) []string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = strings.ToLower(text)
	}
	return out
}

// head is the beginning of every string of a glob.
func (k *Condition) head() string {
	if k.Spec.Kind != condition.Glob || len(k.Spec.Values) != 1 {
		return ""
	}
	text := k.Spec.Values[0].Text
	if at := strings.IndexAny(text, `*?[{\`); at >= 0 {
		text = text[:at]
	}
	if slices.Contains(k.Readings, schema.Path) {
		if text == "" || text[0] == '/' || text[0] == '~' || text[0] == '.' || !isASCII(text) {
			return ""
		}
		text = strings.TrimSuffix(text, "/") // "src/**" also matches "src"
	}
	return text
}

// isFinite reports a condition that is a set of literals.
func isFinite(k *Condition) bool {
	return k.Spec.Kind == condition.Const || k.Spec.Kind == condition.Enum
}

// wholeNumbers reports whether the parameter only takes integers.
func (k *Condition) wholeNumbers() bool {
	return k.Target.Type&schema.Integer != 0 && k.Target.Type&schema.Number == 0
}

// intervals lists the numbers of a condition; of an integer parameter only the
// integers in them.
func (k *Condition) intervals() []analysis.Interval {
	var list []analysis.Interval
	switch {
	case k.Spec.Kind.IsRange():
		in := rangeOf(k.Spec.Kind, decimal(k.Spec.Values[0]))
		if k.wholeNumbers() {
			in = in.Integers()
		}
		list = []analysis.Interval{in}
	case isFinite(k):
		for _, lit := range k.Spec.Values {
			if d := decimal(lit); lit.Kind == condition.LiteralNumber && (d.IsInteger() || !k.wholeNumbers()) {
				list = append(list, analysis.Point(d))
			}
		}
	}
	return list
}

// decimal is the number of a literal that a matcher accepts.
func decimal(lit condition.Literal) jsonstream.Decimal {
	d, _ := jsonstream.ParseDecimal([]byte(lit.Text))
	return d
}

// rangeOf is the interval of a range condition.
func rangeOf(k condition.Kind, d jsonstream.Decimal) analysis.Interval {
	switch k {
	case condition.Minimum:
		return analysis.Interval{Low: analysis.Cut{At: d}, High: analysis.AboveAll}
	case condition.ExclusiveMinimum:
		return analysis.Interval{Low: analysis.Cut{At: d, Above: true}, High: analysis.AboveAll}
	case condition.Maximum:
		return analysis.Interval{Low: analysis.BelowAll, High: analysis.Cut{At: d, Above: true}}
	}
	return analysis.Interval{Low: analysis.BelowAll, High: analysis.Cut{At: d}}
}
