package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// keywords reads the members of one schema object into its node.
type keywords struct {
	*parser
	node  *Node
	at    *trail
	value jsonstream.Value

	list         *Node // additionalItems: the schema after a list of items
	hasList      bool
	exclusiveMin bool // the flags of draft 4
	exclusiveMax bool
	annotated    bool // x-stopgate-type takes precedence over format
}

// read reads one keyword.
func (k *keywords) read(key string, v jsonstream.Value) {
	n, at := k.node, k.at.below(key)
	switch key {
	case "type":
		k.types(v, at)
	case "enum":
		k.wantArray(v, at)
		n.HasEnum, n.Enum = true, slices.Collect(v.Elements())
	case "const":
		n.Const = v
	case "default":
		n.Default = v
	case "title":
		n.Title = v.Text()
	case "description":
		n.Description = v.Text()
	case "nullable":
		n.Nullable = k.flag(v, at)
	case "format":
		if a := formatAnnotation(v.Text()); a != None && !k.annotated {
			n.Annotation = a
		}
		n.As = n.As.with(formatAs(v.Text()))
	case "x-stopgate-as":
		as, ok := declaredAs(k.text(v, at))
		if !ok {
			k.fail(at, "must be one of "+strings.Join(flow.Kinds(), ", "))
		}
		n.As = as
	case "x-stopgate-type":
		a, ok := ParseAnnotation(k.text(v, at))
		if !ok {
			k.fail(at, "must be path, command, url, patch or argv")
		}
		n.Annotation, k.annotated = a, true
	case "x-stopgate-expands":
		n.Expands = k.flag(v, at)
	case "minimum":
		n.Minimum = k.decimal(v, at)
	case "maximum":
		n.Maximum = k.decimal(v, at)
	case "exclusiveMinimum":
		k.exclusiveMin = k.exclusive(&n.ExclusiveMinimum, v, at)
	case "exclusiveMaximum":
		k.exclusiveMax = k.exclusive(&n.ExclusiveMaximum, v, at)
	case "multipleOf":
		if n.MultipleOf = k.decimal(v, at); n.MultipleOf.Sign() <= 0 {
			k.fail(at, "must be greater than 0")
		}
	case "minLength":
		n.MinLength = k.count(v, at)
	case "maxLength":
		n.MaxLength = k.count(v, at)
	case "pattern":
		n.Pattern = k.pattern(key, k.text(v, at), at)
	case "minItems":
		n.MinItems = k.count(v, at)
	case "maxItems":
		n.MaxItems = k.count(v, at)
	case "uniqueItems":
		n.UniqueItems = k.flag(v, at)
	case "minContains":
		n.MinContains = k.count(v, at)
	case "maxContains":
		n.MaxContains = k.count(v, at)
	case "minProperties":
		n.MinProperties = k.count(v, at)
	case "maxProperties":
		n.MaxProperties = k.count(v, at)
	default:
		if !k.readStructure(key, v, at) {
			k.readOther(key, v, at)
		}
	}
}

// readStructure reads a keyword with schemas or names of members.
func (k *keywords) readStructure(key string, v jsonstream.Value, at *trail) bool {
	n := k.node
	switch key {
	case "properties":
		n.HasProperties, n.Properties = true, k.properties(v, at)
	case "required":
		k.required(v, at)
	case "additionalProperties":
		switch v.Kind() {
		case jsonstream.True:
			n.Additional = AdditionalAllowed
		case jsonstream.False:
			n.Additional = AdditionalForbidden
		default:
			n.Additional, n.AdditionalSchema = AdditionalBySchema, k.parser.node(v, at)
		}
	case "propertyNames":
		n.PropertyNames = k.parser.node(v, at)
	case "patternProperties":
		k.patternProperties(v, at)
	case "dependentRequired":
		k.wantObject(v, at)
		for name, list := range v.Members() {
			k.dependentRequired(name.Text(), list, at)
		}
	case "dependentSchemas":
		k.hides(key, at)
		n.DependentSchemas = append(n.DependentSchemas, k.properties(v, at)...)
	case "dependencies":
		k.dependencies(v, at)
	case "items":
		if k.hasList = v.Kind() == jsonstream.Array; k.hasList {
			n.PrefixItems = k.nodes(v, at)
		} else {
			n.Items = k.parser.node(v, at)
		}
	case "prefixItems":
		n.PrefixItems = k.nodes(v, at)
	case "additionalItems":
		k.list = k.parser.node(v, at)
	case "contains":
		n.Contains = k.parser.node(v, at)
	case "$ref":
		k.reference(k.text(v, at), at)
	case "allOf":
		n.AllOf = k.nodes(v, at)
	case "anyOf":
		n.AnyOf = k.nodes(v, at)
	case "oneOf":
		n.OneOf = k.nodes(v, at)
	case "not":
		k.hides(key, at)
		n.Not = k.parser.node(v, at)
	case "if":
		k.hides(key, at)
		n.If = k.parser.node(v, at)
	case "then":
		n.Then = k.parser.node(v, at)
	case "else":
		n.Else = k.parser.node(v, at)
	default:
		return false
	}
	return true
}

// described reports whether a keyword does not affect which values fit.
func described(key string) bool {
	switch key {
	case "$schema", "$id", "id", "$comment", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$defs", "definitions",
		"examples", "example", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema",
		"discriminator", "xml", "externalDocs":
		return true
	}
	return false
}

// readOther reads the remaining keywords: descriptions, keywords that are not validated, and words
// that JSON Schema does not have.
func (k *keywords) readOther(key string, v jsonstream.Value, at *trail) {
	switch key {
	case "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef":
		if strings.HasPrefix(key, "unevaluated") && v.Kind() == jsonstream.True {
			return
		}
		k.skip(key, at, key+" is not validated")
	default:
		if !described(key) && !strings.HasPrefix(key, "x-") {
			k.note(at, key, "not a keyword that stopgate knows; it is ignored")
		}
	}
}

// skip records a keyword that restricts values and is not validated. All except patterns may
// describe the locations below.
func (k *keywords) skip(key string, at *trail, message string) {
	k.node.Open = k.node.Open || key != "pattern"
	k.node.Unvalidated = append(k.node.Unvalidated, key)
	k.note(at, key, message)
}

// hides records a keyword that is validated, but below which pointers are not followed (K23).
func (k *keywords) hides(key string, at *trail) {
	k.node.Open = true
	k.note(at, key, key+" is validated, but rules do not see what it declares")
}

func (k *keywords) types(v jsonstream.Value, at *trail) {
	names := []string{v.Text()}
	if v.Kind() == jsonstream.Array {
		names = k.texts(v, at)
	} else {
		k.text(v, at)
	}
	k.node.Types = 0
	for _, name := range names {
		t, ok := ParseType(name)
		if !ok {
			k.skip("type", at, strconv.Quote(name)+" is not a type of JSON Schema: any value is accepted")
			t = AnyType
		}
		k.node.Types = k.node.Types.Union(t)
	}
}

// formatAnnotation returns the annotation of a format (K25). Formats are not validated, as in JSON
// Schema.
func formatAnnotation(format string) Annotation {
	switch format {
	case "path", "file-path", "directory-path":
		return Path
	case "uri", "url", "iri":
		return URL
	case "command":
		return Command
	case "patch":
		return Patch
	case "argv":
		return Argv
	}
	return None
}

// exclusive reads a bound, or the flag of draft 4 that makes one exclusive.
func (k *keywords) exclusive(bound **jsonstream.Decimal, v jsonstream.Value, at *trail) bool {
	if v.Kind() == jsonstream.True || v.Kind() == jsonstream.False {
		return v.Kind() == jsonstream.True
	}
	*bound = k.decimal(v, at)
	return false
}

// pattern compiles a pattern of the schema. An unsupported one is a note; the rest of the schema
// applies (K45).
func (k *keywords) pattern(key, text string, at *trail) *regular.Pattern {
	if k.patterns += len(text); k.patterns > maxPatterns {
		k.skip(key, at, "not validated: the patterns of the schema are longer than "+strconv.Itoa(maxPatterns)+" bytes together")
		return nil
	}
	p, err := regular.Compile(text)
	if err != nil {
		k.skip(key, at, "not validated: "+err.Error())
		return nil
	}
	return p
}

func (k *keywords) properties(v jsonstream.Value, at *trail) []Property {
	k.wantObject(v, at)
	list := make([]Property, 0, v.Len())
	for key, value := range v.Members() {
		name := key.Text()
		list = append(list, Property{Name: name, Node: k.parser.node(value, at.below(name))})
	}
	return list
}

func (k *keywords) patternProperties(v jsonstream.Value, at *trail) {
	k.hides("patternProperties", at)
	for _, p := range k.properties(v, at) {
		if pattern := k.pattern("patternProperties", p.Name, at.below(p.Name)); pattern != nil {
			k.node.PatternProperties = append(k.node.PatternProperties, PatternProperty{pattern, p.Node})
		}
	}
}

func (k *keywords) dependentRequired(name string, list jsonstream.Value, at *trail) {
	k.node.DependentRequired = append(k.node.DependentRequired, DependentRequired{name, k.texts(list, at.below(name))})
}

// dependencies reads the keyword of draft 7 that was split into two.
func (k *keywords) dependencies(v jsonstream.Value, at *trail) {
	k.wantObject(v, at)
	k.hides("dependencies", at)
	for key, value := range v.Members() {
		name := key.Text()
		if value.Kind() == jsonstream.Array {
			k.dependentRequired(name, value, at)
			continue
		}
		k.node.DependentSchemas = append(k.node.DependentSchemas, Property{Name: name, Node: k.parser.node(value, at.below(name))})
	}
}

// required reads the list of names. As a flag on a property (draft 3) it is read with the
// properties.
func (k *keywords) required(v jsonstream.Value, at *trail) {
	if v.Kind() == jsonstream.True || v.Kind() == jsonstream.False {
		k.note(at, "required", "a flag is the form of draft 3; it is taken as a name in the parent's list")
		return
	}
	k.node.Required = k.texts(v, at)
}

// finish resolves the keywords that depend on each other.
func (k *keywords) finish() {
	n := k.node
	if properties, ok := k.value.Get("properties"); ok {
		for key, p := range properties.Members() {
			if required, _ := p.Get("required"); required.Kind() == jsonstream.True {
				n.Required = append(n.Required, key.Text())
			}
		}
	}
	if k.hasList && k.list != nil {
		n.Items = k.list
	}
	if k.exclusiveMin && n.Minimum != nil {
		n.ExclusiveMinimum, n.Minimum = n.Minimum, nil
	}
	if k.exclusiveMax && n.Maximum != nil {
		n.ExclusiveMaximum, n.Maximum = n.Maximum, nil
	}
}
