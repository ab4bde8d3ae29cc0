package kinds_test

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/testkit/property"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

var (
	aNumber   = condition.Target{Type: schema.Number}
	anInteger = condition.Target{Type: schema.Integer}
)

// number returns a condition on numbers.
func number(k condition.Kind, values ...string) condition.Spec {
	s := condition.Spec{Kind: k}
	for _, v := range values {
		s.Values = append(s.Values, condition.Literal{Kind: condition.LiteralNumber, Text: v, JSON: v})
	}
	return s
}

func decimal(tb testing.TB, literal string) jsonstream.Decimal {
	tb.Helper()
	d, err := jsonstream.ParseDecimal([]byte(literal))
	if err != nil {
		tb.Fatalf("%s: %v", literal, err)
	}
	return d
}

// Proves D25-24, D25-25, D25-26, D25-27, A19, A20, A21, P9, K26.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		kind    condition.Kind
		literal string
		value   string
		want    bool
	}{
		{condition.Minimum, "5", "5", true},
		{condition.Minimum, "5", "4.999999999999999999999", false},
		{condition.Maximum, "5", "5.0", true},
		{condition.Maximum, "5", "5.000000000000000000001", false},
		{condition.ExclusiveMinimum, "5", "5", false},
		{condition.ExclusiveMinimum, "5", "5.1", true},
		{condition.ExclusiveMaximum, "5", "50e-1", false},
		{condition.ExclusiveMaximum, "5", "-1e9", true},
		{condition.Maximum, "9007199254740992", "9007199254740993", false},
		{condition.Const, "9007199254740992", "9007199254740993", false},
		{condition.Const, "1", "1.0", true},
		{condition.Const, "1e0", "1", true},
		{condition.Const, "0", "-0", true},
		{condition.Enum, "1000", "1e3", true},
		{condition.Maximum, "1e400", "1e399", true},
		{condition.Minimum, "1e-999999", "0", false},
		{condition.Maximum, "1", "1e400", false},
		{condition.Maximum, "1", "1e-999999", true},
	} {
		for _, polarity := range []bool{permissive, restrictive} {
			m := compile(t, number(c.kind, c.literal), aNumber, polarity, nowhere)
			if got := m.Number(decimal(t, c.value)); got != c.want {
				t.Errorf("%v %s on %s: %v, want %v", c.kind, c.literal, c.value, got, c.want)
			}
			if m.Match([]byte(c.value)) || m.Bool(true) || m.Items(1) || m.Canonical([]byte(c.value)) {
				t.Errorf("%v matches a value that is no number", c.kind)
			}
		}
	}
}

// Proves I10.
func TestNumbersAgainstRationals(t *testing.T) {
	kinds := []condition.Kind{condition.Const, condition.Minimum, condition.Maximum, condition.ExclusiveMinimum, condition.ExclusiveMaximum}
	literal := rapid.Custom(func(t *rapid.T) string {
		s := fmt.Sprint(rapid.IntRange(-30, 30).Draw(t, "whole"))
		if f := rapid.StringMatching(`[0-9]{0,3}`).Draw(t, "fraction"); f != "" {
			s += "." + f
		}
		if rapid.Bool().Draw(t, "exponent") {
			s += fmt.Sprintf("e%d", rapid.IntRange(-3, 3).Draw(t, "e"))
		}
		return s
	})
	property.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(kinds).Draw(t, "kind")
		rule, value := literal.Draw(t, "rule"), literal.Draw(t, "value")
		m, err := tryCompile(number(k, rule), aNumber, permissive, nowhere)
		if err != nil {
			t.Fatal(err)
		}
		d, err := jsonstream.ParseDecimal([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := new(big.Rat).SetString(rule)
		v, _ := new(big.Rat).SetString(value)
		c := v.Cmp(r)
		want := map[condition.Kind]bool{
			condition.Const: c == 0, condition.Minimum: c >= 0, condition.Maximum: c <= 0, condition.ExclusiveMinimum: c > 0, condition.ExclusiveMaximum: c < 0,
		}[k]
		if got := m.Number(d); got != want {
			t.Fatalf("%v %s on %s: %v, want %v", k, rule, value, got, want)
		}
	})
}

// Proves D25-20, D25-21, D25-29.
func TestValuesThatAreNotStrings(t *testing.T) {
	mixed := condition.Spec{Kind: condition.Enum, Values: []condition.Literal{
		{Kind: condition.LiteralString, Text: "a"},
		{Kind: condition.LiteralNumber, Text: "1"},
		{Kind: condition.LiteralBool, Text: "true"},
		{Kind: condition.LiteralObject, JSON: `{"a":1}`},
	}}
	m := compile(t, mixed, condition.Target{}, restrictive, nowhere)
	if !m.Match([]byte("a")) || !m.Number(decimal(t, "1.0")) || !m.Bool(true) || m.Bool(false) || !m.Canonical([]byte(`{"a":1}`)) || m.Canonical([]byte(`{}`)) {
		t.Error("an enum of several types matches each of them")
	}
	if want := schema.String | schema.Number | schema.Boolean | schema.Object; m.Fits() != want {
		t.Errorf("fits %v, want %v", m.Fits(), want)
	}
	no := compile(t, condition.Spec{Kind: condition.Const, Values: []condition.Literal{{Kind: condition.LiteralBool, Text: "false"}}}, condition.Target{Type: schema.Boolean}, permissive, nowhere)
	if no.Bool(true) || !no.Bool(false) || no.Fits() != schema.Boolean {
		t.Error("const = false")
	}
	least := compile(t, number(condition.MinItems, "2"), condition.Target{Type: schema.Array | schema.String}, restrictive, nowhere)
	most := compile(t, number(condition.MaxItems, "2"), condition.Target{Type: schema.Array}, permissive, nowhere)
	for n, want := range map[int][2]bool{0: {false, true}, 2: {true, true}, 3: {true, false}} {
		if got := [2]bool{least.Items(n), most.Items(n)}; got != want {
			t.Errorf("%d items: %v, want %v", n, got, want)
		}
	}
	if least.Number(decimal(t, "3")) {
		t.Error("min_items matches a number")
	}
	for text, want := range map[string]bool{"true": true, "false": false} {
		present := compile(t, condition.Spec{Kind: condition.Present, Values: []condition.Literal{{Kind: condition.LiteralBool, Text: text}}}, aPath, permissive, nowhere)
		if present.WantsPresent() != want || present.Kind() != condition.Present {
			t.Errorf("present = %s", text)
		}
	}
	if !compile(t, spec(condition.Present, condition.PresentValue), aPath, restrictive, nowhere).WantsPresent() {
		t.Error(`present = "value" does not require that the argument is there`)
	}
}

// Proves D25-28, D25-30, D25-31, D25-32, K22.
func TestTypeErrors(t *testing.T) {
	text := condition.Literal{Kind: condition.LiteralString, Text: "x"}
	one := condition.Literal{Kind: condition.LiteralNumber, Text: "1"}
	yes := condition.Literal{Kind: condition.LiteralBool, Text: "true"}
	for _, c := range []struct {
		name   string
		kind   condition.Kind
		values []condition.Literal
		target condition.Target
		index  int
	}{
		{"prefix on a number", condition.Prefix, []condition.Literal{text}, aNumber, -1},
		{"minimum on a string", condition.Minimum, []condition.Literal{one}, aString, -1},
		{"pattern on a boolean", condition.Pattern, []condition.Literal{text}, condition.Target{Type: schema.Boolean}, -1},
		{"min_items on a string", condition.MinItems, []condition.Literal{one}, aString, -1},
		{"const of another type", condition.Const, []condition.Literal{yes}, aNumber, 0},
		{"enum with one of another type", condition.Enum, []condition.Literal{text, one}, aString, 1},
		{"fraction on an integer", condition.Const, []condition.Literal{{Kind: condition.LiteralNumber, Text: "1.5"}}, anInteger, 0},
		{"array", condition.Const, []condition.Literal{{Kind: condition.LiteralArray, JSON: "[]"}}, condition.Target{Type: schema.Array | schema.String}, 0},
		{"object on a string", condition.Const, []condition.Literal{{Kind: condition.LiteralObject, JSON: "{}"}}, aString, 0},
		{"prefix that is a number", condition.Prefix, []condition.Literal{one}, aString, 0},
		{"minimum that is a string", condition.Minimum, []condition.Literal{text}, aNumber, 0},
		{"minimum that is no decimal", condition.Minimum, []condition.Literal{{Kind: condition.LiteralNumber, Text: "inf"}}, aNumber, 0},
		{"const that is no decimal", condition.Const, []condition.Literal{{Kind: condition.LiteralNumber, Text: "0x1"}}, aNumber, 0},
		{"max_length that is negative", condition.MaxLength, []condition.Literal{{Kind: condition.LiteralNumber, Text: "-1"}}, aString, 0},
		{"max_items that is a string", condition.MaxItems, []condition.Literal{text}, condition.Target{Type: schema.Array}, 0},
		{"present that is no boolean", condition.Present, []condition.Literal{one}, aString, 0},
		{"present that is another word", condition.Present, []condition.Literal{text}, aString, 0},
		{"two values", condition.Prefix, []condition.Literal{text, text}, aString, 1},
		{"no value", condition.Enum, nil, aString, -1},
		{"no matcher", "", []condition.Literal{text}, aString, -1},
		{"bad literal in an enum", condition.Enum, []condition.Literal{one, text, {Kind: condition.LiteralString, Text: "a//b"}},
			condition.Target{Type: schema.String | schema.Number, Annotation: schema.Path}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := specError(t, condition.Spec{Kind: c.kind, Values: c.values}, c.target, permissive, nowhere)
			if bad.Index != c.index || bad.Message == "" || bad.Error() == "" {
				t.Errorf("got %+v, want index %d", bad, c.index)
			}
		})
	}
	if _, err := tryCompile(condition.Spec{Kind: condition.Const, Values: []condition.Literal{{Kind: condition.LiteralNumber, Text: "1.0"}}}, anInteger, permissive, nowhere); err != nil {
		t.Errorf("1.0 is an integer: %v", err)
	}
}

// Proves K0c.
func TestMaxLength(t *testing.T) {
	for _, c := range []struct {
		target       condition.Target
		value        string
		grant, catch bool // of max_length = 3
	}{
		{aString, "", true, true},
		{aString, "\u00fc\u00fc\u00fc", true, true},
		{aString, "abcd", false, false},
		{aString, " a b ", false, true},
		{aString, "a\u200bbc", false, true},
		{aString, "a  b", false, false},
		{aPath, "src", true, true},
		{aPath, "a:b", false, true},
		{aPath, "src/a", false, false},
		{aURL, "a:b", true, true},
		{aURL, "abc", false, true},
	} {
		for polarity, want := range map[bool]bool{permissive: c.grant, restrictive: c.catch} {
			m := compile(t, number(condition.MaxLength, "3"), c.target, polarity, nowhere)
			if got := m.Match([]byte(c.value)); got != want {
				t.Errorf("max_length 3, restrictive %v, on %q: %v, want %v", polarity, c.value, got, want)
			}
		}
	}
	m := compile(t, number(condition.MaxLength, "3"), aString, permissive, nowhere)
	if r, at := feed(m, "abcdef", 2); r != condition.Miss || at != 4 {
		t.Errorf("%v at %d, want miss at 4", r, at)
	}
	m = compile(t, number(condition.MaxLength, "3"), aString, restrictive, nowhere)
	if r, at := feed(m, " ab   c ", 2, 5); r != condition.Miss || at != 7 {
		t.Errorf("%v at %d, want miss at 7: white space counts once it is inside", r, at)
	}
}
