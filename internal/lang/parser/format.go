package parser

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Format returns the text of a policy file in its canonical layout (K54): one rule per line with
// its keys in a fixed order, current spellings instead of legacy ones, and otherwise as
// [tomltree.Document.Format] does. It keeps the order, every comment and the meaning, and is
// idempotent.
//
// A file with mistakes is formatted too if it is valid TOML; the list contains the syntax errors
// otherwise.
func Format(conditions *condition.Table, name string, text []byte) ([]byte, diag.List) {
	out, renamed, mistakes := format(conditions, name, text, true)
	if !renamed {
		return out, mistakes
	}
	// A current spelling can collide with another table of the file. Then the author has to choose.
	before, _ := Parse(conditions, name, text)
	after, _ := Parse(conditions, name, out)
	if after == nil || before.Broken || after.Broken || syntax.Hash(before) != syntax.Hash(after) {
		out, _, mistakes = format(conditions, name, text, false)
	}
	return out, mistakes
}

func format(conditions *condition.Table, name string, text []byte, rename bool) (out []byte, renamed bool, mistakes diag.List) {
	doc, mistakes := tomltree.Parse(name, text)
	if mistakes.HasErrors() {
		return nil, false, mistakes
	}
	a, table := arranger{conditions}, []string(nil)
	for _, s := range doc.Statements {
		path := slices.Concat(table, s.Keys)
		switch s.Kind {
		case tomltree.Comment:
			continue
		case tomltree.Header, tomltree.Headers:
			table = s.Keys
			path = table
		case tomltree.Pair:
			a.arrange(tidy(path), s.Value)
		}
		if !rename {
			continue
		}
		switch {
		case s.Kind == tomltree.Pair && isOldList(path) && len(s.Keys) == 1:
			s.Keys, renamed = []string{"policy", s.Keys[0]}, true
		case s.Kind != tomltree.Pair && len(s.Keys) > 2 && s.Keys[0] == "conversation":
			s.Keys, renamed = s.Keys[1:], true
		}
	}
	return doc.Format(), renamed, nil
}

// tidy returns the current spelling of the path of a key.
func tidy(path []string) []string {
	if len(path) > 1 && path[0] == "conversation" {
		path = path[1:]
	}
	if isOldList(path) {
		return []string{"tools", path[1], "policy", path[2]}
	}
	return path
}

// isOldList reports whether a path is that of run or result outside of policy (D25-02).
func isOldList(path []string) bool {
	if len(path) > 0 && path[0] == "conversation" {
		path = path[1:]
	}
	return len(path) == 3 && path[0] == "tools" && slices.Contains(policyKeys, path[2])
}

// arranger writes rules in their canonical layout.
type arranger struct{ conditions *condition.Table }

// arrange brings the rules in a value into canonical form.
func (a arranger) arrange(path []string, v *tomltree.Value) {
	switch {
	case len(path) == 4 && path[0] == "tools" && path[2] == "policy" && slices.Contains(policyKeys, path[3]),
		len(path) == 1 && path[0] == "guard":
		v.OwnLines = v.Kind == tomltree.Array
		for _, rule := range v.Elements {
			a.order(rule)
		}
	case len(path) == 2 && path[0] == "session" && (path[1] == "unless" || path[1] == "where"),
		len(path) > 1 && path[len(path)-1] == "all" && (path[0] == "guard" || len(path) == 5 && path[2] == "policy"):
		for _, member := range v.Elements {
			a.order(member)
		}
	case v.Kind == tomltree.Table && len(path) < 4:
		for _, e := range v.Entries {
			a.arrange(tidy(slices.Concat(path, []string{e.Key})), e.Value)
		}
	}
}

// order sorts the keys of an inline rule or member. With comments between them they keep their
// order.
func (a arranger) order(rule *tomltree.Value) {
	for _, s := range rule.Pairs {
		if len(s.Value.Comments) > 0 || s.Value.Trailing != "" {
			return
		}
	}
	slices.SortStableFunc(rule.Pairs, func(s, t *tomltree.Statement) int { return cmp.Compare(a.rank(s.Keys[0]), a.rank(t.Keys[0])) })
	if all := rule.Get("all"); all != nil {
		for _, member := range all.Value.Elements {
			a.order(member)
		}
	}
}

// rank is the position of a key in a rule: the argument, the matcher, its further keys, the rest.
func (a arranger) rank(key string) int {
	first := []string{"on", "arg", "all"}
	if i := slices.Index(first, key); i >= 0 {
		return i
	}
	if kind, _ := a.conditions.ParseKey(key); kind != nil {
		return len(first)
	}
	if slices.Contains(a.conditions.OptionKeys(), key) {
		return len(first) + 1
	}
	rest := slices.Index(ruleKeys, key)
	if rest < 0 {
		rest = len(ruleKeys)
	}
	return len(first) + 2 + rest
}
