package parser

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/schema"
)

// parameters converts [tools.NAME.parameters] to a schema (D25-16, K25).
func (p *parser) parameters(t *tomltree.Value) *schema.Schema {
	before := len(p.diags)
	list := p.properties(t)
	s, err := schema.FromParameters(list)
	if err == nil {
		return s
	}
	if p.diags[before:].HasErrors() {
		return nil // the missing list was reported
	}
	var mistakes schema.ParameterErrors
	if !errors.As(err, &mistakes) { // unreachable; report the error all the same
		p.report(diag.BadParameter, t.Range, err.Error(), "")
	}
	for _, m := range mistakes {
		at := t.Range
		if v, ok := m.Pos.(*tomltree.Value); ok {
			at = v.Range
			if e := v.Get(m.Field); e != nil {
				at = e.Value.Range
			}
		}
		p.report(diag.BadParameter, at, fmt.Sprintf("parameter `%s`: %s", m.Path, m.Message), m.Hint)
	}
	return nil
}

// properties reads a table of parameters by name, in file order (D26-29).
func (p *parser) properties(t *tomltree.Value) []schema.Parameter {
	var list []schema.Parameter
	for _, e := range t.Entries {
		if p.table(e) {
			list = append(list, p.parameter(e))
		}
	}
	return list
}

func (p *parser) parameter(e *tomltree.Entry) schema.Parameter {
	t := e.Value
	p.known(t, parameterKeys)
	param := schema.Parameter{Name: e.Key, Pos: t, Type: textsOf(p.texts(t.Get("type")))}
	param.Required = p.flag(t.Get("required"))
	param.Title, _ = p.text(t.Get("title"))
	var about []string
	for _, key := range []string{"summary", "description"} {
		if text, ok := p.text(t.Get(key)); ok {
			about = append(about, text)
		}
	}
	param.Description = strings.Join(about, "\n\n")
	param.Aliases = textsOf(p.texts(t.Get("aliases")))
	param.Expands = p.flag(t.Get("expands"))
	if items := t.Get("items"); items != nil && p.table(items) {
		of := p.parameter(items)
		param.Items = &of
	}
	if props := t.Get("properties"); props != nil && p.table(props) {
		param.Properties = p.properties(props.Value)
	}
	p.additional(t.Get("additional_properties"), &param)
	p.values(t, &param)
	for _, n := range []struct {
		key string
		to  **int
	}{
		{"min_length", &param.MinLength}, {"max_length", &param.MaxLength},
		{"min_items", &param.MinItems}, {"max_items", &param.MaxItems},
		{"min_properties", &param.MinProperties}, {"max_properties", &param.MaxProperties},
	} {
		*n.to = p.count(t.Get(n.key))
	}
	param.UniqueItems = p.flag(t.Get("unique_items"))
	param.Pattern, _ = p.text(t.Get("pattern"))
	param.As, _ = p.word(t.Get("as"), flow.Kinds()...)
	return param
}

func (p *parser) additional(e *tomltree.Entry, param *schema.Parameter) {
	if e == nil {
		return
	}
	if e.Value.Kind == tomltree.Table {
		of := p.parameter(e)
		param.Additional = &schema.AdditionalParameter{Schema: &of}
		return
	}
	if e.Value.Kind != tomltree.Bool {
		p.wrongType(e, "true, false or the table of a parameter")
		return
	}
	param.Additional = &schema.AdditionalParameter{Allowed: p.flag(e)}
}

// values reads the keys that hold JSON values.
func (p *parser) values(t *tomltree.Value, param *schema.Parameter) {
	json := func(e *tomltree.Entry) string {
		if e == nil {
			return ""
		}
		lit, _ := p.literal(e.Value)
		return lit.JSON
	}
	if e := t.Get("enum"); e != nil {
		if e.Value.Kind != tomltree.Array {
			p.wrongType(e, "an array of values")
		}
		for _, v := range e.Value.Elements {
			if lit, ok := p.literal(v); ok {
				param.Enum = append(param.Enum, lit.JSON)
			}
		}
	}
	param.Const, param.Default = json(t.Get("const")), json(t.Get("default"))
	for _, n := range []struct {
		key string
		to  *string
	}{
		{"minimum", &param.Minimum}, {"maximum", &param.Maximum},
		{"exclusive_minimum", &param.ExclusiveMinimum}, {"exclusive_maximum", &param.ExclusiveMaximum},
		{"multiple_of", &param.MultipleOf},
	} {
		*n.to = json(t.Get(n.key))
	}
}

func (p *reader) count(e *tomltree.Entry) *int {
	if e == nil {
		return nil
	}
	if e.Value.Kind != tomltree.Integer {
		p.wrongType(e, "an integer")
		return nil
	}
	n, err := strconv.ParseUint(e.Value.Text, 0, 31)
	if err != nil {
		p.report(diag.BadValue, e.Value.Range, "`"+e.Key+"` must be between 0 and 2147483647", "")
	}
	count := int(n)
	return &count
}
