package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
)

// ToJSONSchema returns the schema for models: parameters in source order, the types path, command,
// url and patch as string, argv as a list of strings (D25-17, D26-29). It omits the parts of its
// source that are not understood; the source of a request is forwarded unchanged.
func (s *Schema) ToJSONSchema() []byte {
	if s == nil || s.Root == nil {
		return []byte("true")
	}
	return emit(s.Root, false)
}

// Hash identifies a schema by 64 hexadecimal digits over everything in its source, independent of
// order. Annotations and aliases are included, and so are titles and descriptions, because models
// act on them (G4). The unknown schema has a hash too.
func (s *Schema) Hash() string {
	sum := sha256.Sum256([]byte("unknown"))
	switch {
	case s == nil:
	case s.Source == Overlaid:
		sum = sha256.Sum256([]byte(s.base.Hash() + " " + s.file.Hash()))
	case s.text.IsValid():
		sum = jsonstream.HashCanonical(s.text)
	case s.Root != nil:
		// The output of emit is within the limits, since a policy file is smaller.
		v, _ := jsonstream.Parse(emit(s.Root, true), jsonstream.Options{MaxDepth: jsonstream.LargestMaxDepth, MaxExponent: jsonstream.AnyExponent})
		sum = jsonstream.HashCanonical(v)
	}
	return hex.EncodeToString(sum[:])
}

// emitter prints nodes. Nodes with references to them are printed once, under $defs.
type emitter struct {
	dst   []byte
	root  *Node
	full  bool // with the parts that models do not see
	names map[*Node]string
	taken map[string]int // names and the number of their uses
	defs  []*Node
}

func emit(root *Node, full bool) []byte {
	e := &emitter{root: root, full: full, names: map[*Node]string{}, taken: map[string]int{}}
	e.node(root)
	return e.dst
}

// node prints a schema.
func (e *emitter) node(n *Node) {
	switch {
	case n.Types == 0 && !n.Nullable:
		e.dst = append(e.dst, "false"...)
	case n.Nullable && !n.isPlain():
		e.dst = append(e.dst, `{"anyOf":[`...)
		e.object(n, n.Types)
		e.dst = append(e.dst, `,{"type":"null"}]}`...)
	case n.Nullable:
		e.object(n, n.Types|Null)
	default:
		e.object(n, n.Types)
	}
}

// isPlain reports whether only the type decides about null.
func (n *Node) isPlain() bool {
	return !n.HasEnum && !n.Const.IsValid() && n.Types != 0 && len(n.siblings()) == 0
}

func (e *emitter) object(n *Node, types Type) {
	e.dst = append(e.dst, '{')
	e.describe(n, types)
	e.scalars(n)
	e.members(n)
	e.elements(n)
	e.combined(n)
	if n == e.root {
		e.definitions()
	}
	e.dst = append(e.dst, '}')
}

// key begins a member.
func (e *emitter) key(name string) {
	if e.dst[len(e.dst)-1] != '{' {
		e.dst = append(e.dst, ',')
	}
	e.dst = append(jsonstream.AppendQuote(e.dst, name), ':')
}

func (e *emitter) text(name, text string) {
	if text != "" {
		e.key(name)
		e.dst = jsonstream.AppendQuote(e.dst, text)
	}
}

func (e *emitter) value(name string, v jsonstream.Value) {
	if v.IsValid() {
		e.key(name)
		e.dst = append(e.dst, v.Raw()...)
	}
}

func (e *emitter) count(name string, n *int) {
	if n != nil {
		e.key(name)
		e.dst = strconv.AppendInt(e.dst, int64(*n), 10)
	}
}

func (e *emitter) decimal(name string, d *jsonstream.Decimal) {
	if d != nil {
		e.key(name)
		e.dst = d.AppendCanonical(e.dst)
	}
}

func (e *emitter) flag(name string, set bool) {
	if set {
		e.key(name)
		e.dst = append(e.dst, "true"...)
	}
}

func (e *emitter) schema(name string, n *Node) {
	if n != nil {
		e.key(name)
		e.node(n)
	}
}

func (e *emitter) schemas(name string, list []*Node) {
	if len(list) == 0 {
		return
	}
	e.key(name)
	emitList(e, list, e.node)
}

func (e *emitter) texts(name string, list []string) {
	e.key(name)
	emitList(e, list, func(text string) { e.dst = jsonstream.AppendQuote(e.dst, text) })
}

func emitList[T any](e *emitter, list []T, one func(T)) {
	e.dst = append(e.dst, '[')
	for i, item := range list {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		one(item)
	}
	e.dst = append(e.dst, ']')
}

func (e *emitter) describe(n *Node, types Type) {
	if types != AnyType && types != AnyType&^Null|Null {
		var names []string
		for i, name := range typeNames {
			if types&(1<<i) != 0 {
				names = append(names, name)
			}
		}
		if len(names) == 1 {
			e.text("type", names[0])
		} else {
			e.texts("type", names)
		}
	}
	e.text("title", n.Title)
	e.text("description", n.Description)
	if e.full {
		e.text("x-stopgate-type", n.Annotation.String())
		if n.As.from == asDeclared {
			e.text("x-stopgate-as", n.As.Kind.String())
		}
		e.flag("x-stopgate-expands", n.Expands)
	}
	if n.HasEnum {
		e.key("enum")
		emitList(e, n.Enum, func(v jsonstream.Value) { e.dst = append(e.dst, v.Raw()...) })
	}
	e.value("const", n.Const)
	e.value("default", n.Default)
}

func (e *emitter) scalars(n *Node) {
	e.decimal("minimum", n.Minimum)
	e.decimal("maximum", n.Maximum)
	e.decimal("exclusiveMinimum", n.ExclusiveMinimum)
	e.decimal("exclusiveMaximum", n.ExclusiveMaximum)
	e.decimal("multipleOf", n.MultipleOf)
	e.count("minLength", n.MinLength)
	e.count("maxLength", n.MaxLength)
	if n.Pattern != nil {
		e.text("pattern", n.Pattern.String())
	}
}

func (e *emitter) members(n *Node) {
	if n.HasProperties {
		e.properties("properties", n.Properties)
	}
	if len(n.Required) > 0 {
		e.texts("required", n.Required)
	}
	switch n.Additional {
	case AdditionalForbidden:
		e.key("additionalProperties")
		e.dst = append(e.dst, "false"...)
	case AdditionalAllowed:
		e.flag("additionalProperties", true)
	case AdditionalBySchema:
		e.schema("additionalProperties", n.AdditionalSchema)
	}
	if len(n.PatternProperties) > 0 {
		e.key("patternProperties")
		e.dst = append(e.dst, '{')
		for _, p := range n.PatternProperties {
			e.schema(p.Pattern.String(), p.Node)
		}
		e.dst = append(e.dst, '}')
	}
	e.schema("propertyNames", n.PropertyNames)
	e.count("minProperties", n.MinProperties)
	e.count("maxProperties", n.MaxProperties)
	if len(n.DependentRequired) > 0 {
		e.key("dependentRequired")
		e.dst = append(e.dst, '{')
		for _, d := range n.DependentRequired {
			e.texts(d.Name, d.Required)
		}
		e.dst = append(e.dst, '}')
	}
	if len(n.DependentSchemas) > 0 {
		e.properties("dependentSchemas", n.DependentSchemas)
	}
}

func (e *emitter) properties(name string, list []Property) {
	e.key(name)
	e.dst = append(e.dst, '{')
	for _, p := range list {
		e.schema(p.Name, p.Node)
	}
	e.dst = append(e.dst, '}')
	if !e.full {
		return
	}
	for _, p := range list {
		if len(p.Aliases) > 0 {
			e.texts("x-stopgate-aliases-"+p.Name, p.Aliases)
		}
	}
}

func (e *emitter) elements(n *Node) {
	e.schemas("prefixItems", n.PrefixItems)
	e.schema("items", n.Items)
	e.count("minItems", n.MinItems)
	e.count("maxItems", n.MaxItems)
	e.flag("uniqueItems", n.UniqueItems)
	e.schema("contains", n.Contains)
	e.count("minContains", n.MinContains)
	e.count("maxContains", n.MaxContains)
}

func (e *emitter) combined(n *Node) {
	if n.Ref != nil {
		e.text("$ref", e.reference(n.Ref))
	}
	e.schemas("allOf", n.AllOf)
	e.schemas("anyOf", n.AnyOf)
	e.schemas("oneOf", n.OneOf)
	e.schema("not", n.Not)
	e.schema("if", n.If)
	e.schema("then", n.Then)
	e.schema("else", n.Else)
}

// reference returns the name of a node that references lead to.
func (e *emitter) reference(n *Node) string {
	if n == e.root {
		return "#"
	}
	name, ok := e.names[n]
	if !ok {
		base := "root"
		if n.at != nil {
			base = n.at.token
		}
		for name = base; e.taken[name] > 0; name = base + "-" + strconv.Itoa(e.taken[base]) {
			e.taken[base]++
		}
		e.names[n], e.taken[name] = name, e.taken[name]+1
		e.defs = append(e.defs, n)
	}
	return "#" + jsonstream.Pointer{"$defs", name}.String()
}

// definitions prints the nodes that references lead to, which can add further ones.
func (e *emitter) definitions() {
	if len(e.defs) == 0 {
		return
	}
	e.key("$defs")
	e.dst = append(e.dst, '{')
	for i := 0; i < len(e.defs); i++ {
		e.schema(e.names[e.defs[i]], e.defs[i])
	}
	e.dst = append(e.dst, '}')
}
