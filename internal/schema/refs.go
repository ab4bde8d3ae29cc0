package schema

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// target is the target of a reference.
type target struct {
	value   jsonstream.Value
	at      *trail
	problem string // why it is not followed
}

// reference reads `$ref`. Only references inside the text are followed; any other is a note, and
// the location is unknown (K23).
func (k *keywords) reference(ref string, at *trail) {
	start, _ := k.value.Span()
	t := k.resolve(ref, start)
	if t.problem != "" {
		k.skip("$ref", at, t.problem)
		return
	}
	if !t.value.IsValid() {
		k.fail(at, "the reference "+strconv.Quote(ref)+" leads nowhere")
	}
	k.node.Ref = k.parser.node(t.value, t.at)
}

// resolve follows a reference in the value at an offset.
func (p *parser) resolve(ref string, offset int) target {
	for _, r := range p.resources {
		if r.start <= offset && offset < r.end {
			return target{problem: "references below an inner $id are not followed"}
		}
	}
	if t, ok := p.found[ref]; ok {
		return t
	}
	t := p.find(ref)
	p.found[ref] = t
	return t
}

func (p *parser) find(ref string) target {
	base, fragment, _ := strings.Cut(ref, "#")
	if base != "" && base != p.id {
		return target{problem: "references to other documents are not followed"}
	}
	fragment, ok := unescapePercent(fragment)
	if fragment != "" && fragment[0] != '/' {
		return target{problem: "references to anchors are not followed"}
	}
	pointer, err := jsonstream.ParsePointer(fragment)
	if !ok || err != nil {
		return target{}
	}
	t := target{value: p.root}
	for _, token := range pointer {
		t.value, t.at = p.child(t.value, token), t.at.below(token)
	}
	return t
}

// child returns a member or an element. Members are looked up in a map, so that many references
// into one object of definitions take linear time.
func (p *parser) child(v jsonstream.Value, token string) jsonstream.Value {
	if v.Kind() != jsonstream.Object {
		child, _ := jsonstream.Pointer{token}.Find(v)
		return child
	}
	start, _ := v.Span()
	members, ok := p.members[start]
	if !ok {
		members = make(map[string]jsonstream.Value, v.Len())
		for key, value := range v.Members() {
			members[key.Text()] = value
		}
		p.members[start] = members
	}
	return members[token]
}

// findResources records the values, other than the root, with an `$id` of their own: references in
// them are relative to another base (JSON Schema Core 8.2.1).
func (p *parser) findResources(v jsonstream.Value) {
	for e := range v.Elements() {
		p.findResources(e)
	}
	for key, value := range v.Members() {
		if key.IsText("$id") && v != p.root && value.Kind() == jsonstream.String && !strings.HasPrefix(value.Text(), "#") {
			start, end := v.Span()
			p.resources = append(p.resources, span{start, end})
		}
		p.findResources(value)
	}
}

func trimFragment(id string) string { return strings.TrimSuffix(id, "#") }

// unescapePercent decodes the %XX of a URI fragment (RFC 6901 section 6).
func unescapePercent(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		code, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b = append(b, byte(code))
		i += 2
	}
	return string(b), true
}
