package symbolic

import (
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/jsonstream"
)

// suppose gives values to the choices of a witness where it supposes a source: conditions on the
// source alone leave the value open, and there may be none.
func (t *Translation) suppose(choices []analysis.Choice) []analysis.Choice {
	out := slices.Clone(choices)
	for i := range t.origins {
		o := &t.origins[i]
		if o.variable >= len(choices) || o.value >= len(choices) {
			continue
		}
		origin, value := choices[o.variable].Leaves, &out[o.value]
		v := &t.all[o.value]
		switch {
		case len(origin) == 0:
			continue
		case origin[0].Text[0] == lacking:
			*value = analysis.Choice{Absent: true}
			continue
		}
		wanted := len(origin)
		if !v.Several {
			wanted = 1
		}
		if v.AtMost >= 0 {
			wanted = min(wanted, v.AtMost)
		}
		value.Absent, value.Null = value.Absent && wanted == 0, value.Null && wanted == 0
		if !t.compared[o.value] {
			value.Leaves = nil // any values, so that those of two parameters differ
		}
		for n := 0; len(value.Leaves) < wanted && n < maxGuesses; n++ {
			for _, guess := range guessesOf(&v.Domain, o.kind, maxGuesses*i+n) {
				if len(value.Leaves) < wanted && (v.Domain.Admits == nil || v.Domain.Admits(guess)) && !slices.Contains(value.Leaves, guess) {
					value.Leaves = append(value.Leaves, guess)
				}
			}
		}
	}
	return out
}

// maxGuesses is the number of rounds of guesses for values.
const maxGuesses = 40

// guessesOf are values of many kinds, that of the condition first, others for each n.
func guessesOf(d *analysis.Domain, kind flow.Kind, n int) []analysis.Value {
	if d.Enum != nil {
		return d.Enum
	}
	number := strconv.Itoa(1234 + n)
	decimal, _ := jsonstream.ParseDecimal([]byte(number))
	text := func(text string) analysis.Value { return analysis.Value{Kind: analysis.Text, Text: text} }
	first := map[flow.Kind]string{flow.Email: "ann" + number + "@example.com", flow.URL: "https://example.com/" + number, flow.Host: "h" + number + ".example.com", flow.Number: number, flow.Money: number}[kind]
	if first == "" {
		first = "name" + number
	}
	return slices.DeleteFunc([]analysis.Value{
		text(first), text("name" + number), text("ann" + number + "@example.com"), text("https://example.com/" + number), text(number), {Kind: analysis.Number, Number: decimal}, {Kind: analysis.Boolean, True: n == 0},
	}, func(v analysis.Value) bool {
		return v.Kind == analysis.Text && !d.Text || v.Kind == analysis.Number && !d.Number || v.Kind == analysis.Boolean && !d.Boolean
	})
}
