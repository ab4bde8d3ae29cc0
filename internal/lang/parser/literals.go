package parser

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// literal reads a value of a rule as a JSON value (D25-20): { null = true } is null, { number =
// "..." } a number that TOML cannot represent (K26).
func (p *reader) literal(v *tomltree.Value) (lit condition.Literal, ok bool) {
	switch v.Kind {
	case tomltree.String:
		return stringLiteral(v.Text), true
	case tomltree.Bool:
		return condition.Literal{Kind: condition.LiteralBool, Text: v.Text, JSON: v.Text}, true
	case tomltree.Integer, tomltree.Float:
		return p.number(v, strings.TrimPrefix(strings.ReplaceAll(v.Text, "_", ""), "+"))
	case tomltree.Table:
		if e := v.Get("number"); e != nil && len(v.Entries) == 1 && e.Value.Kind == tomltree.String {
			return p.number(e.Value, e.Value.Text)
		}
		if isNull(v) {
			return condition.Literal{Kind: condition.LiteralNull, Text: "null", JSON: "null"}, true
		}
		return p.composite(v, condition.LiteralObject)
	case tomltree.Array:
		return p.composite(v, condition.LiteralArray)
	}
	p.report(diag.WrongType, v.Range, "JSON has no dates", "write `"+tomltree.Quote(v.Text)+"`")
	return lit, false
}

// stringLiteral returns a string as a literal. Without escapes its text and its JSON share memory.
func stringLiteral(written string) condition.Literal {
	quoted := string(jsonstream.AppendQuote(nil, written))
	if inner := quoted[1 : len(quoted)-1]; inner == written {
		written = inner
	}
	return condition.Literal{Kind: condition.LiteralString, Text: written, JSON: quoted}
}

// isNull reports whether a value is the spelling of null.
func isNull(v *tomltree.Value) bool {
	e := v.Get("null")
	return e != nil && len(v.Entries) == 1 && e.Value.Kind == tomltree.Bool && e.Value.Text == "true"
}

// number keeps the literal as it is written, without underscores (K26).
func (p *reader) number(v *tomltree.Value, text string) (lit condition.Literal, ok bool) {
	d, err := jsonstream.ParseDecimal([]byte(text))
	if err != nil {
		p.report(diag.BadNumber, v.Range, v.Text+" is not an exact decimal number",
			"write it in digits, with a point and an exponent if need be; what TOML cannot hold as `{ number = \"1e400\" }`")
		return lit, false
	}
	return condition.Literal{Kind: condition.LiteralNumber, Text: text, JSON: string(d.AppendCanonical(nil))}, true
}

// composite writes an array or object as canonical JSON.
func (p *reader) composite(v *tomltree.Value, kind condition.LiteralKind) (lit condition.Literal, ok bool) {
	text, ok := p.json(nil, v)
	if !ok {
		return lit, false
	}
	value, err := jsonstream.Parse(text, jsonstream.Options{MaxDepth: 512})
	if err != nil {
		p.report(diag.BadValue, v.Range, "the value is not valid as JSON: "+err.Error(), "")
		return lit, false
	}
	return condition.Literal{Kind: kind, JSON: string(jsonstream.AppendCanonical(nil, value))}, true
}

func (p *reader) json(dst []byte, v *tomltree.Value) ([]byte, bool) {
	wrapped := v.Kind == tomltree.Table && len(v.Entries) == 1 && (v.Get("number") != nil || isNull(v))
	if v.Kind != tomltree.Array && (v.Kind != tomltree.Table || wrapped) {
		lit, ok := p.literal(v)
		return append(dst, lit.JSON...), ok
	}
	open, end := byte('['), byte(']')
	if v.Kind == tomltree.Table {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	all := true
	separate := func(i int) {
		if i > 0 {
			dst = append(dst, ',')
		}
	}
	for i, e := range v.Entries {
		separate(i)
		dst = append(jsonstream.AppendQuote(dst, e.Key), ':')
		var ok bool
		dst, ok = p.json(dst, e.Value)
		all = all && ok
	}
	for i, e := range v.Elements {
		separate(i)
		var ok bool
		dst, ok = p.json(dst, e)
		all = all && ok
	}
	return append(dst, end), all
}

// JSON converts a TOML value to JSON text as rules and test cases do: members in file order,
// numbers exactly (K26). The text is nil if the list has an error.
func JSON(v *tomltree.Value) ([]byte, diag.List) {
	p := &reader{policy: &syntax.File{Name: v.File()}}
	text, ok := p.json(nil, v)
	if !ok {
		return nil, p.diags
	}
	return text, nil
}
