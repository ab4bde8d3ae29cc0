package naive

import (
	"strings"
	"unicode"

	"github.com/dlclark/regexp2/v2"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// test judges a scalar by a condition's matcher and says when the answer is known.
func (p *Policy) test(c *Cond, n *Node, v view, permissive bool) (hit bool, at int) {
	if n.Kind != String {
		return scalar(c, n), n.End
	}
	if c.On == "path" && textual(c) && p.namedPath(c, n, v) {
		return true, n.End
	}
	readings := []string{strings.TrimPrefix(c.On, "string")}
	if c.On == "path" {
		readings = nil
		for _, a := range v.annotations() {
			if a == "path" {
				readings = []string{a}
			}
		}
		if readings == nil {
			return false, n.End
		}
	}
	if c.On == "" {
		readings = v.annotations()
		if _, known := v.leaves().declares(String); !known {
			readings = []string{"", "path"} // nothing is known: certainty needs both, suspicion one
			if c.Kind == "glob" && strings.Contains(c.Values[0].Text, "**") {
				readings = []string{"path"} // means nothing on plain text
			}
			if c.Kind == "max_length" || !canonicalLiterals(c, permissive) {
				readings = []string{""} // means nothing on a path
			}
		}
	}
	if len(readings) == 0 || !textual(c) && Twins[c.Kind].Holds == nil {
		return false, n.Start
	}
	hit, at = permissive, 0
	for _, annotation := range readings {
		h, t := p.text(c, n, annotation, permissive)
		if h == permissive { // still to be decided by the others
			hit, at = hit && h || !permissive && (hit || h), max(at, t)
			continue
		}
		return h, t
	}
	return hit, at
}

// namedPath reports a command line or a patch that names a path which a guard is about.
func (p *Policy) namedPath(c *Cond, n *Node, v view) bool {
	for _, a := range v.annotations() {
		var names []string
		switch a {
		case "command":
			names = pathsOf(c.Kind, n.Text)
		case "patch":
			names = patches[n.Text]
		}
		for _, name := range names {
			for _, literal := range c.Values {
				if p.matchesPath(c.Kind, literal.Text, name, false) {
					return true
				}
			}
		}
	}
	return false
}

func textual(c *Cond) bool {
	switch c.Kind {
	case "pattern", "prefix", "suffix", "glob", "host", "scheme", "max_length", "outside":
		return true
	case "const", "enum":
		for _, v := range c.Values {
			if v.Kind == String {
				return true
			}
		}
	}
	return false
}

// scalar judges numbers, booleans and null.
func scalar(c *Cond, n *Node) bool {
	for _, v := range c.Values {
		switch {
		case c.Kind == "const" || c.Kind == "enum":
			if equal(n, v) {
				return true
			}
		case strings.HasSuffix(c.Kind, "imum") && n.Kind == Number && v.Kind == Number:
			if compares(c.Kind, n.Text, v.Text) {
				return true
			}
		}
	}
	return false
}

// text judges a string. A plain string is judged after every code point: the
// first after which no continuation changes the answer is when it is known.
// Everything else is judged at the closing quote (K13).
func (p *Policy) text(c *Cond, n *Node, annotation string, permissive bool) (hit bool, at int) {
	points := []rune(n.Text)
	if annotation == "" {
		for k := 0; k <= len(points); k++ {
			if known, hit := ahead(c, string(points[:k]), !permissive); known {
				if k == 0 {
					return hit, n.Start
				}
				return hit, n.Ends[k-1]
			}
		}
	}
	switch {
	case n.End == Never:
		return false, Never
	case annotation == "patch":
		return p.matchesPatch(c, n.Text, permissive), n.End
	}
	for _, v := range c.Values {
		if p.matches(c.Kind, v.Text, n.Text, annotation, permissive) {
			return true, n.End
		}
	}
	return false, n.End
}

func (p *Policy) matches(kind, literal, value, annotation string, permissive bool) bool {
	if twin, ok := Twins[kind]; ok {
		return twin.Holds(literal, value, annotation, permissive)
	}
	switch annotation {
	case "path":
		return p.matchesPath(kind, literal, value, permissive)
	case "command":
		return matchesCommand(kind, literal, value, permissive)
	}
	forms := []string{value}
	if !permissive {
		forms = forms3(value)
	}
	for _, f := range forms {
		if plain(kind, literal, f) {
			return true
		}
	}
	return false
}

// forms3 are the readings of a string that a restriction tests (K21).
func forms3(value string) []string {
	bare := strings.Map(func(c rune) rune {
		if isZeroWidth(c) {
			return -1
		}
		return c
	}, value)
	return []string{value, bare, strings.TrimFunc(bare, unicode.IsSpace)}
}

func plain(kind, literal, value string) bool {
	switch kind {
	case "const", "enum":
		return value == literal
	case "prefix":
		return strings.HasPrefix(value, literal)
	case "suffix":
		return strings.HasSuffix(value, literal)
	case "pattern":
		return pattern(literal, value)
	case "max_length":
		return len([]rune(value)) <= int(number(literal).Num().Int64())
	case "glob":
		return globString(literal, value)
	}
	return false
}

// ahead asks what is known of a string of which only the beginning has come.
func ahead(c *Cond, begun string, forms bool) (known, hit bool) {
	known = true
	for _, v := range c.Values {
		k, h := aheadOf(c.Kind, v.Text, begun, forms)
		if k && h {
			return true, true
		}
		known = known && k
	}
	return known, false
}

func aheadOf(kind, literal, begun string, forms bool) (known, hit bool) {
	known = true
	if twin, ok := Twins[kind]; ok {
		return !forms && !twin.Begins(literal, begun), false
	}
	if kind == "max_length" {
		if forms {
			begun = forms3(begun)[2]
		}
		return len([]rune(begun)) > int(number(literal).Num().Int64()), false
	}
	all := []string{begun}
	if forms {
		all = forms3(begun)
		// What is white space at the end now may be inside later.
		all[2] = strings.TrimLeftFunc(all[1], unicode.IsSpace)
	}
	for i, f := range all {
		trimmed := i == 2
		switch kind {
		case "pattern":
			begins, hits := Begins[literal](f)
			if hits {
				return true, true
			}
			if inked := strings.TrimRightFunc(f, unicode.IsSpace); begins || trimmed && inked != f && pattern(literal, inked) {
				known = false
			}
		case "const", "enum":
			rest, starts := strings.CutPrefix(f, literal)
			if strings.HasPrefix(literal, f) || trimmed && starts && strings.TrimSpace(rest) == "" {
				known = false
			}
		case "prefix":
			if strings.HasPrefix(f, literal) && (!trimmed || literal == strings.TrimRightFunc(literal, unicode.IsSpace)) {
				return true, true
			}
			if strings.HasPrefix(literal, f) || strings.HasPrefix(f, literal) {
				known = false
			}
		case "glob":
			rest := residuals([]rune(literal), []rune(f))
			if rest["*"] && (!trimmed || globString(literal, strings.TrimRightFunc(f, unicode.IsSpace))) {
				return true, true
			}
			if len(rest) > 0 || trimmed && globString(literal, strings.TrimRightFunc(f, unicode.IsSpace)) {
				known = false
			}
		default:
			return false, false
		}
	}
	return known, false
}

// Begins says by hand, for the patterns that tests draw, whether a text that begins so
// can still match, and whether it does whatever follows. None of them has a blank.
var Begins = map[string]func(begun string) (can, must bool){
	"^a":       func(s string) (bool, bool) { return s == "" || s[0] == 'a', s != "" && s[0] == 'a' },
	"b$":       func(string) (bool, bool) { return true, false },
	"^(a|ab)$": func(s string) (bool, bool) { return s == "" || s == "a" || s == "ab", false },
	"rm":       func(s string) (bool, bool) { return true, strings.Contains(s, "rm") },
	"env":      func(s string) (bool, bool) { return true, strings.Contains(s, "env") },
	"^src/[a-z]+$": func(s string) (bool, bool) {
		if len(s) < 4 {
			return strings.HasPrefix("src/", s), false
		}
		return strings.HasPrefix(s, "src/") && strings.Trim(s[4:], "abcdefghijklmnopqrstuvwxyz") == "", false
	},
}

// residuals are the globs that what follows has to match if a string begins so.
func residuals(glob, begun []rune) map[string]bool {
	all := map[string]bool{}
	if len(begun) == 0 {
		all[squeeze(string(glob))] = true
		return all
	}
	if len(glob) == 0 {
		return all
	}
	merge := func(more map[string]bool) {
		for g := range more {
			all[g] = true
		}
	}
	switch glob[0] {
	case '*':
		merge(residuals(glob[1:], begun))
		merge(residuals(glob, begun[1:]))
	case '?', begun[0]:
		merge(residuals(glob[1:], begun[1:]))
	}
	return all
}

// squeeze writes a run of stars as one.
func squeeze(glob string) string {
	for strings.Contains(glob, "**") {
		glob = strings.ReplaceAll(glob, "**", "*")
	}
	return glob
}

func pattern(expression, value string) bool {
	re, err := regexp2.Compile(expression, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		panic(err)
	}
	ok, err := re.MatchString(value)
	return ok && err == nil
}

// globString is a glob on a plain string: * is any run, ? one code point.
func globString(glob, value string) bool {
	g, v := []rune(glob), []rune(value)
	if len(g) == 0 {
		return len(v) == 0
	}
	switch g[0] {
	case '*':
		for i := 0; i <= len(v); i++ {
			if globString(string(g[1:]), string(v[i:])) {
				return true
			}
		}
		return false
	case '?':
		return len(v) > 0 && globString(string(g[1:]), string(v[1:]))
	}
	return len(v) > 0 && g[0] == v[0] && globString(string(g[1:]), string(v[1:]))
}

func compose(s string) string  { return norm.NFKC.String(s) }
func foldCase(s string) string { return cases.Fold().String(s) }
