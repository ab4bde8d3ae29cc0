package schema

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/stopgate/stopgate/jsonstream"
)

// Violation is the first violation of a schema by arguments.
type Violation struct {
	// Pointer leads to the value that does not fit, or to the object that lacks a member.
	Pointer string
	// Keyword is the violated keyword of JSON Schema, "" if the validation was not completed.
	Keyword string
	// Message is the requirement. It names declared members only and contains no values of the
	// call.
	Message string
}

// Error returns pointer and message.
func (v *Violation) Error() string {
	if v.Pointer == "" {
		return "the arguments: " + v.Message
	}
	return v.Pointer + ": " + v.Message
}

// Limits of the steps of a validation: a constant, and a number for each byte of the arguments.
// Beyond them the arguments are rejected, since schemas with many alternatives can evaluate the
// same value again and again.
const (
	maxSteps     = 1 << 20
	stepsPerByte = 16
)

// Validator validates arguments. It keeps its buffers: when reused, the validation of arguments
// that fit does not allocate, except for uniqueItems. The zero Validator is ready to use; it is not
// safe for concurrent use.
type Validator struct {
	aliases   bool
	root      jsonstream.Value
	path      []jsonstream.Value // current values, below the root
	members   []jsonstream.Value // members of the current objects, by property
	scratch   []byte
	trying    int // depth of alternatives, in which failures are not violations yet
	steps     int
	limit     int
	violation *Violation
}

// Validate returns the first violation of s by v, nil if v fits. It checks the type, then the
// constraints of the value itself, then required members and the members in declaration order,
// depth first, and last references and combinations. Nothing violates the nil Schema.
func (c *Validator) Validate(s *Schema, v jsonstream.Value) *Violation {
	if s == nil {
		return nil
	}
	if s.Root == nil || !v.IsValid() {
		return &Violation{Message: "there is nothing to check, or nothing to check it against"}
	}
	c.path, c.members, c.scratch, c.trying, c.steps, c.violation = c.path[:0], c.members[:0], c.scratch[:0], 0, 0, nil
	c.aliases, c.root, c.limit = s.aliases, v, maxSteps+stepsPerByte*len(v.Raw())
	fits := c.check(s.Root, s.Location(), v)
	if c.steps > c.limit {
		return &Violation{Message: "the schema takes too many steps to check"}
	}
	if fits {
		return nil
	}
	return c.violation
}

// RequiresNothing reports whether the empty object fits: then empty arguments may mean no arguments
// (A14). The nil Schema has no known requirements.
func (s *Schema) RequiresNothing() bool {
	// The text is a valid object.
	empty, _ := jsonstream.Parse([]byte("{}"), jsonstream.Options{})
	return s.Validate(empty) == nil
}

// fail ends a check. It records the violation unless an alternative is being tried.
func (c *Validator) fail(keyword, message string) bool {
	if c.trying == 0 {
		c.violation = &Violation{Pointer: c.pointer(), Keyword: keyword, Message: message}
	}
	return false
}

// explain is fail with a message that is formatted on demand.
func (c *Validator) explain(keyword string, message func() string) bool {
	if c.trying > 0 {
		return false
	}
	return c.fail(keyword, message())
}

// pointer returns the pointer to the current value.
func (c *Validator) pointer() string {
	var p jsonstream.Pointer
	at := c.root
	for _, next := range c.path {
		for key, value := range at.Members() {
			if value == next {
				p = append(p, key.Text())
			}
		}
		i := 0
		for element := range at.Elements() {
			if element == next {
				p = append(p, strconv.Itoa(i))
			}
			i++
		}
		at = next
	}
	return p.String()
}

// spend counts steps. It reports whether there are any left.
func (c *Validator) spend(n int) bool {
	c.steps += n
	return c.steps <= c.limit
}

// enter validates a value below the current one.
func (c *Validator) enter(n *Node, p *Location, v jsonstream.Value) bool {
	c.path = append(c.path, v)
	fits := c.check(n, p, v)
	c.path = c.path[:len(c.path)-1]
	return fits
}

// try validates a value without recording a violation.
func (c *Validator) try(n *Node, p *Location, v jsonstream.Value) bool {
	c.trying++
	fits := c.check(n, p, v)
	c.trying--
	return fits
}

// check reports whether v fits n. p is the location of v: it translates aliases.
func (c *Validator) check(n *Node, p *Location, v jsonstream.Value) bool {
	if !c.spend(1) {
		return false
	}
	kind := v.Kind()
	if kind == jsonstream.Null && n.Nullable {
		return true
	}
	if !n.allows(v) {
		return c.explain("type", func() string { return "must be " + n.Types.describe() + ", is " + describe(v) })
	}
	if n.HasEnum || n.Const.IsValid() {
		if !c.listed(n, v) {
			return false
		}
	}
	fits := true
	switch kind {
	case jsonstream.String:
		fits = c.text(n, v)
	case jsonstream.Number:
		fits = c.number(n, v)
	case jsonstream.Array:
		fits = c.array(n, p, v)
	case jsonstream.Object:
		fits = c.object(n, p, v)
	}
	return fits && (!n.combines || c.combined(n, p, v))
}

// allows reports whether the type of v is among those of n.
func (n *Node) allows(v jsonstream.Value) bool {
	if v.Kind() != jsonstream.Number || n.Types&(Number|Integer) != Integer {
		return typeOfKind(v.Kind())&n.Types != 0
	}
	if _, ok := jsonstream.ParseInt(v.Raw()); ok {
		return true
	}
	d, ok := v.Decimal()
	return ok && d.IsInteger()
}

// listed checks enum and const.
func (c *Validator) listed(n *Node, v jsonstream.Value) bool {
	if !c.spend(len(v.Raw()) / 8) {
		return false
	}
	c.scratch = jsonstream.AppendCanonical(c.scratch[:0], v)
	if n.HasEnum && !n.allowed[string(c.scratch)] {
		return c.fail("enum", "must be one of the listed values")
	}
	if n.Const.IsValid() && n.exactly != string(c.scratch) {
		return c.fail("const", "must be the one value that is allowed")
	}
	return true
}

// text checks the constraints of a string.
func (c *Validator) text(n *Node, v jsonstream.Value) bool {
	if n.MinLength == nil && n.MaxLength == nil && n.Pattern == nil {
		return true
	}
	text, plain := v.TextBytes()
	if !plain {
		c.scratch = v.AppendText(c.scratch[:0])
		text = c.scratch
	}
	if n.MinLength != nil || n.MaxLength != nil {
		length := utf8.RuneCount(text)
		if n.MinLength != nil && length < *n.MinLength {
			return c.explain("minLength", func() string { return "must have at least " + strconv.Itoa(*n.MinLength) + " characters" })
		}
		if n.MaxLength != nil && length > *n.MaxLength {
			return c.explain("maxLength", func() string { return "must have at most " + strconv.Itoa(*n.MaxLength) + " characters" })
		}
	}
	if n.Pattern != nil {
		if !c.spend(len(text) * (n.Pattern.Size()/16 + 1)) {
			return false
		}
		if !n.Pattern.Match(text) {
			return c.explain("pattern", func() string { return "must match the pattern " + n.Pattern.String() })
		}
	}
	return true
}

// number checks the constraints of a number (A19, A20, A21).
func (c *Validator) number(n *Node, v jsonstream.Value) bool {
	if n.Minimum == nil && n.Maximum == nil && n.ExclusiveMinimum == nil && n.ExclusiveMaximum == nil && n.MultipleOf == nil {
		return true
	}
	d, _ := v.Decimal() // every number has one
	switch {
	case n.Minimum != nil && d.Cmp(*n.Minimum) < 0:
		return c.explain("minimum", func() string { return "must be at least " + n.Minimum.String() })
	case n.Maximum != nil && d.Cmp(*n.Maximum) > 0:
		return c.explain("maximum", func() string { return "must be at most " + n.Maximum.String() })
	case n.ExclusiveMinimum != nil && d.Cmp(*n.ExclusiveMinimum) <= 0:
		return c.explain("exclusiveMinimum", func() string { return "must be more than " + n.ExclusiveMinimum.String() })
	case n.ExclusiveMaximum != nil && d.Cmp(*n.ExclusiveMaximum) >= 0:
		return c.explain("exclusiveMaximum", func() string { return "must be less than " + n.ExclusiveMaximum.String() })
	case n.MultipleOf != nil && !d.IsMultipleOf(*n.MultipleOf):
		return c.explain("multipleOf", func() string { return "must be a multiple of " + n.MultipleOf.String() })
	}
	return true
}

// array checks the constraints of an array and its elements.
func (c *Validator) array(n *Node, p *Location, v jsonstream.Value) bool {
	if n.MinItems != nil && v.Len() < *n.MinItems {
		return c.explain("minItems", func() string { return "must have at least " + strconv.Itoa(*n.MinItems) + " elements" })
	}
	if n.MaxItems != nil && v.Len() > *n.MaxItems {
		return c.explain("maxItems", func() string { return "must have at most " + strconv.Itoa(*n.MaxItems) + " elements" })
	}
	if n.Items != nil || len(n.PrefixItems) > 0 {
		i := 0
		for element := range v.Elements() {
			schema := n.Items
			if i < len(n.PrefixItems) {
				schema = n.PrefixItems[i]
			}
			if schema != nil && !c.enter(schema, p.Item(i), element) {
				return false
			}
			i++
		}
	}
	if n.UniqueItems && !c.unique(v) {
		return c.fail("uniqueItems", "must not have two equal elements")
	}
	return n.Contains == nil || c.contains(n, p, v)
}

func (c *Validator) unique(v jsonstream.Value) bool {
	if v.Len() < 2 {
		return true
	}
	seen := make(map[string]bool, v.Len())
	for element := range v.Elements() {
		if !c.spend(len(element.Raw())/4 + 16) {
			return false
		}
		c.scratch = jsonstream.AppendCanonical(c.scratch[:0], element)
		if seen[string(c.scratch)] {
			return false
		}
		seen[string(c.scratch)] = true
	}
	return true
}

func (c *Validator) contains(n *Node, p *Location, v jsonstream.Value) bool {
	count, least := 0, 1
	for element := range v.Elements() {
		if c.try(n.Contains, p.Items(), element) {
			count++
		}
	}
	if n.MinContains != nil {
		least = *n.MinContains
	}
	if count < least {
		return c.explain("contains", func() string { return "must have at least " + strconv.Itoa(least) + " elements of a certain form" })
	}
	if n.MaxContains != nil && count > *n.MaxContains {
		return c.explain("maxContains", func() string {
			return "must have at most " + strconv.Itoa(*n.MaxContains) + " elements of a certain form"
		})
	}
	return true
}

// combined checks references and combinations.
func (c *Validator) combined(n *Node, p *Location, v jsonstream.Value) bool {
	if n.Ref != nil && !c.check(n.Ref, p, v) {
		return false
	}
	for _, one := range n.AllOf {
		if !c.check(one, p, v) {
			return false
		}
	}
	if len(n.AnyOf) > 0 && !slices.ContainsFunc(n.AnyOf, func(one *Node) bool { return c.try(one, p, v) }) {
		return c.fail("anyOf", "fits none of the alternatives")
	}
	if len(n.OneOf) > 0 {
		count := 0
		for _, one := range n.OneOf {
			if c.try(one, p, v) {
				count++
			}
		}
		if count != 1 {
			return c.explain("oneOf", func() string { return "must fit exactly one of the alternatives, fits " + strconv.Itoa(count) })
		}
	}
	if n.Not != nil && c.try(n.Not, p, v) {
		return c.fail("not", "has a form that is excluded")
	}
	if n.If != nil {
		then := n.Else
		if c.try(n.If, p, v) {
			then = n.Then
		}
		return then == nil || c.check(then, p, v)
	}
	return true
}
