package learn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// How is a generalisation. The zero How is none.
type How string

// The generalisations, the narrowest first.
const (
	Exactly    How = "exactly this"
	Directory  How = "same directory"
	Subcommand How = "same subcommand"
	Host       How = "same host"
	Tool       How = "same tool"
)

// term is one condition of a rule.
type term struct {
	arg       string
	condition string // as a rule writes it: const = "x"; "" leaves the parameter open
	sentence  string // the values, for people
	by        []unit // the approvals that it rests on with [family.kin], nil if those of the draft are enough
}

// draft is a rule before it is judged.
type draft struct {
	tool  stopgate.ToolName
	how   How
	width width
	terms []term
	units []unit
	by    []unit // see [draft.evidence]
}

// evidence are the approvals that support a draft: those of its units, and of their kin if each condition rests on
// them.
func (d *draft) evidence() []unit {
	if d.by != nil {
		return d.by
	}
	return d.units
}

// width selects how far drafts go.
type width uint8

const (
	single width = iota // the values of one call
	exact               // the recorded values
	narrow              // files of one directory
	wide                // everything that support permits
)

// rule returns the rule as an inline table, false if it has too many conditions.
func (d *draft) rule() (string, bool) {
	var parts []string
	for _, t := range d.terms {
		if t.condition != "" {
			parts = append(parts, fmt.Sprintf("arg = %s, %s", tomltree.Quote(t.arg), t.condition))
		}
	}
	switch len(parts) {
	case 0:
		return `{ mode = "unattended" }`, true
	case 1:
		return "{ " + parts[0] + `, mode = "unattended" }`, true
	}
	return "{ all = [{ " + strings.Join(parts, " }, { ") + ` }], mode = "unattended" }`, len(parts) <= maxTerms
}

// maxTerms is how many conditions a rule may have.
const maxTerms = 32

// sentence describes the calls of a draft.
func (d *draft) sentence() string {
	var parts []string
	for _, t := range d.terms {
		if t.sentence != "" {
			parts = append(parts, t.sentence)
		}
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return fmt.Sprintf("%s without arguments", d.tool)
	}
	return fmt.Sprintf("%s with %s", d.tool, strings.Join(parts, ", "))
}

// oneOf returns the condition that a value is one of some.
func oneOf(arg string, values []value) (term, bool) {
	var texts, shown []string
	for _, v := range values {
		text, ok := v.literal()
		if !ok {
			return term{}, false
		}
		texts, shown = append(texts, text), append(shown, v.shown())
	}
	slices.Sort(texts)
	slices.Sort(shown)
	t := term{arg: arg, condition: "const = " + texts[0], sentence: fmt.Sprintf("%s = %s", arg, shown[0])}
	if len(texts) > 1 {
		t.condition = "enum = [" + strings.Join(texts, ", ") + "]"
		t.sentence = fmt.Sprintf("%s one of %s", arg, strings.Join(shown, ", "))
	}
	return t, len(texts) <= maxValues
}

// maxValues is how many values a rule spells out: a longer list is no rule that a person reads.
const maxValues = 24

// shown is a value for people.
func (v value) shown() string { return v.json }
