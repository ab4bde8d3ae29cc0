package schema

import (
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// FromParameters builds the schema of a policy file's parameters. It is closed: a key that no table
// declares is undeclared (K24, K25). The error is of type ParameterErrors and has every mistake.
func FromParameters(list []Parameter) (*Schema, error) {
	d := &declaration{}
	root := &Node{Types: Object, HasProperties: true}
	d.properties(root, list, nil)
	s, err := build(root, FromFile)
	if err != nil {
		d.errors = append(d.errors, &ParameterError{Path: err.Pointer, Field: "parameters", Message: err.Message})
		return nil, d.errors
	}
	for _, check := range d.checks {
		check.run()
	}
	if len(d.errors) > 0 {
		return nil, d.errors
	}
	return s, nil
}

// declaration converts parameters to nodes and collects mistakes.
type declaration struct {
	errors ParameterErrors
	checks []check
	depth  int // current nesting depth of parameters
}

// one is the current parameter.
type one struct {
	*declaration
	p    *Parameter
	path *trail
	node *Node
}

func (o *one) fail(field, message, hint string) {
	o.errors = append(o.errors, &ParameterError{Path: o.path.dotted(), Field: field, Message: message, Hint: hint, Pos: o.p.Pos})
}

// properties adds the members of an object. Names and aliases must be unique.
func (d *declaration) properties(n *Node, list []Parameter, path *trail) {
	owner := map[string]string{}
	for i := range list {
		p := &list[i]
		o := &one{declaration: d, p: p, path: path.below(p.Name)}
		if p.Name == "" {
			o.fail("name", "a parameter has a name", "")
			continue
		}
		if _, taken := owner[p.Name]; taken {
			o.fail("name", "the parameter is declared twice", "")
			continue
		}
		owner[p.Name] = p.Name
		o.build()
		n.Properties = append(n.Properties, Property{Name: p.Name, Node: o.node, Aliases: p.Aliases})
		if p.Required {
			n.Required = append(n.Required, p.Name)
		}
	}
	for i := range list {
		o := &one{declaration: d, p: &list[i], path: path.below(list[i].Name)}
		for _, alias := range list[i].Aliases {
			switch other, taken := owner[alias]; {
			case alias == "":
				o.fail("aliases", "an alias is a name", "")
			case taken && other == list[i].Name:
				o.fail("aliases", quoted(alias)+" is the parameter's own name, or listed twice", "")
			case taken:
				o.fail("aliases", quoted(alias)+" already stands for the parameter "+quoted(other), "")
			default:
				owner[alias] = list[i].Name
			}
		}
	}
}

// build converts one parameter to a node.
func (o *one) build() {
	p := o.p
	n := &Node{at: o.path, Declared: true, Title: p.Title, Description: p.Description, Expands: p.Expands, UniqueItems: p.UniqueItems}
	o.node = n
	o.types()
	if p.Expands && n.Types&String == 0 {
		o.fail("expands", "only a string can be expanded by the tool", "")
	}
	o.depth++
	defer func() { o.depth-- }()
	if o.depth > maxNesting {
		o.fail("type", "parameters nest too deep", "")
		return
	}
	if p.Items != nil && n.Annotation == Argv {
		o.fail("items", "the elements of an argument vector are its words", "leave items out")
		return
	}
	if p.Items != nil {
		items := &one{declaration: o.declaration, p: p.Items, path: o.path.below("items")}
		items.build()
		n.Items = items.node
		if len(p.Items.Aliases) > 0 || p.Items.Required {
			items.fail("items", "elements of an array have no name: aliases and required mean nothing here", "")
		}
	}
	if p.Properties != nil {
		n.HasProperties = true
		o.declaration.properties(n, p.Properties, o.path)
	}
	if p.Additional != nil {
		o.additional()
	}
	o.as()
	o.bounds()
	o.values()
}

// as reads how origins of the value are compared.
func (o *one) as() {
	if o.p.As == "" {
		return
	}
	as, ok := declaredAs(o.p.As)
	switch {
	case !ok:
		o.fail("as", quoted(o.p.As)+" is not a kind of value", "kinds are "+strings.Join(flow.Kinds(), ", "))
	case o.node.Types&Array != 0 && o.node.Types&(String|Number|Integer) == 0:
		o.fail("as", "is about strings and numbers, not about the array", "write it into items")
	default:
		o.fits("as", true, String|Number|Integer)
		o.node.As = as
	}
}

// types reads the list of types and annotations.
func (o *one) types() {
	p, n := o.p, o.node
	for _, name := range p.Type {
		if t, ok := ParseType(name); ok {
			n.Types = n.Types.Union(t)
			continue
		}
		a, ok := ParseAnnotation(name)
		if !ok {
			o.fail("type", quoted(name)+" is not a type", typeHint(name))
			n.Types = AnyType // one message is enough
			return
		}
		if n.Annotation != None && n.Annotation != a {
			o.fail("type", "a value cannot be "+n.Annotation.String()+" and "+a.String(), "")
		}
		n.Annotation = a
		if a == Argv {
			n.Types |= Array
			n.Items = &Node{at: o.path.below("items"), Types: String}
			continue
		}
		n.Types |= String
	}
	if len(p.Type) == 0 {
		switch {
		case p.Properties != nil && p.Items == nil:
			n.Types = Object
		case p.Items != nil && p.Properties == nil:
			n.Types = Array
		default:
			o.fail("type", "the parameter has no type", typeHint(""))
			n.Types = AnyType
			return
		}
	}
	o.fits("items", p.Items != nil, Array)
	o.fits("unique_items", p.UniqueItems, Array)
	o.fits("min_items", p.MinItems != nil, Array)
	o.fits("max_items", p.MaxItems != nil, Array)
	o.fits("properties", p.Properties != nil, Object)
	o.fits("additional", p.Additional != nil, Object)
	o.fits("min_properties", p.MinProperties != nil, Object)
	o.fits("max_properties", p.MaxProperties != nil, Object)
	o.fits("pattern", p.Pattern != "", String)
	o.fits("min_length", p.MinLength != nil, String)
	o.fits("max_length", p.MaxLength != nil, String)
	for _, b := range o.numbers() {
		o.fits(b.field, b.text != "", Number|Integer)
	}
}

// fits reports a key that does not apply to the types of the parameter.
func (o *one) fits(field string, given bool, t Type) {
	if given && o.node.Types&t == 0 {
		o.fail(field, "says nothing about "+o.node.Types.describe(), "")
	}
}

func typeHint(name string) string {
	all := append([]string{}, typeNames[:]...)
	for a := URL; a <= Argv; a++ {
		all = append(all, a.String())
	}
	known := map[string]string{"str": "string", "text": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object", "map": "object", "uri": "url", "file": "path"}
	if meant, ok := known[strings.ToLower(name)]; ok {
		return `write "` + meant + `"`
	}
	if meant := resembling(name, all); name != "" && meant != "" {
		return `write "` + meant + `"`
	}
	return "types are " + strings.Join(all, ", ")
}

func (o *one) additional() {
	switch a := o.p.Additional; {
	case a.Schema != nil:
		schema := &one{declaration: o.declaration, p: a.Schema, path: o.path.below("additional")}
		schema.build()
		o.node.Additional, o.node.AdditionalSchema = AdditionalBySchema, schema.node
	case a.Allowed:
		o.node.Additional = AdditionalAllowed
	default:
		o.node.Additional = AdditionalForbidden
	}
}

// number is one bound as written in the file.
type number struct {
	field, text string
	to          **jsonstream.Decimal
}

func (o *one) numbers() []number {
	p, n := o.p, o.node
	return []number{
		{"minimum", p.Minimum, &n.Minimum}, {"maximum", p.Maximum, &n.Maximum},
		{"exclusive_minimum", p.ExclusiveMinimum, &n.ExclusiveMinimum}, {"exclusive_maximum", p.ExclusiveMaximum, &n.ExclusiveMaximum},
		{"multiple_of", p.MultipleOf, &n.MultipleOf},
	}
}

// bounds reads the limits on numbers, lengths and counts, and the pattern.
func (o *one) bounds() {
	p, n := o.p, o.node
	for _, b := range o.numbers() {
		if b.text == "" {
			continue
		}
		d, err := jsonstream.ParseDecimal([]byte(b.text))
		if err != nil {
			o.fail(b.field, b.text+" is not a decimal number within the limits", "")
			continue
		}
		*b.to = &d
	}
	if n.MultipleOf != nil && n.MultipleOf.Sign() <= 0 {
		o.fail("multiple_of", "must be greater than 0", "")
	}
	for _, c := range []struct {
		field string
		from  *int
		to    **int
	}{
		{"min_length", p.MinLength, &n.MinLength}, {"max_length", p.MaxLength, &n.MaxLength},
		{"min_items", p.MinItems, &n.MinItems}, {"max_items", p.MaxItems, &n.MaxItems},
		{"min_properties", p.MinProperties, &n.MinProperties}, {"max_properties", p.MaxProperties, &n.MaxProperties},
	} {
		if c.from != nil && *c.from < 0 {
			o.fail(c.field, "must not be negative", "")
			continue
		}
		*c.to = c.from
	}
	if p.Pattern != "" {
		pattern, err := regular.Compile(p.Pattern)
		if err != nil {
			e := err.(*regular.SyntaxError)
			o.fail("pattern", (&regular.SyntaxError{Offset: e.Offset, Message: e.Message}).Error(), e.Hint)
			return
		}
		n.Pattern = pattern
	}
}

// values reads enum, const and default. Whether they fit the parameter is checked after the
// complete schema is built.
func (o *one) values() {
	p, n := o.p, o.node
	if p.Enum != nil {
		n.HasEnum = true
		for _, text := range p.Enum {
			if v, ok := o.value("enum", text); ok {
				n.Enum = append(n.Enum, v)
			}
		}
		if len(p.Enum) == 0 {
			o.fail("enum", "an empty list allows nothing", "")
		}
	}
	if p.Const != "" {
		n.Const, _ = o.value("const", p.Const)
	}
	if p.Default != "" {
		n.Default, _ = o.value("default", p.Default)
	}
}

func (o *one) value(field, text string) (jsonstream.Value, bool) {
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		o.fail(field, text+" is not a JSON value: "+err.Error(), "")
		return v, false
	}
	o.checks = append(o.checks, check{o, field, v})
	return v, true
}

// check is a value of a declaration that must fit its parameter.
type check struct {
	of    *one
	field string
	value jsonstream.Value
}

// run reports a value that does not fit. An enum is not checked against itself, and const and
// default not after other mistakes.
func (k check) run() {
	n := k.of.node
	if k.field == "enum" {
		open := *n
		open.HasEnum, n = false, &open
	}
	c := Validator{root: k.value, limit: maxSteps}
	if !c.check(n, anything, k.value) {
		k.of.fail(k.field, string(k.value.Raw())+" does not fit the parameter: "+c.violation.Message, "")
	}
}

func quoted(name string) string { return `"` + name + `"` }
