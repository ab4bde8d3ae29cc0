package naiveflow

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// node is a value of a document.
type node struct {
	kind    byte // 'o', 'a', 's', 'n', 'c' for true, false and null
	text    string
	keys    []string
	members []*node
	label   string // the key or the index in its parent
}

// parse reads a JSON document; nil if it is none, or if an object has a key twice.
func parse(text string) *node {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	n := value(d)
	if _, err := d.Token(); n == nil || err != io.EOF {
		return nil
	}
	return n
}

func value(d *json.Decoder) *node {
	token, err := d.Token()
	if err != nil {
		return nil
	}
	switch t := token.(type) {
	case json.Delim:
		n := &node{kind: map[json.Delim]byte{'{': 'o', '[': 'a'}[t]}
		seen := map[string]bool{}
		for d.More() {
			label := strconv.Itoa(len(n.members))
			if n.kind == 'o' {
				key, err := d.Token()
				if label, _ = key.(string); err != nil || seen[label] {
					return nil
				}
				seen[label] = true
				n.keys = append(n.keys, label)
			}
			m := value(d)
			if m == nil {
				return nil
			}
			m.label = label
			n.members = append(n.members, m)
		}
		if _, err := d.Token(); err != nil {
			return nil
		}
		return n
	case string:
		return &node{kind: 's', text: t}
	case json.Number:
		return &node{kind: 'n', text: string(t)}
	}
	return &node{kind: 'c', text: strings.ToLower(strconv.Quote(strings.TrimSpace(literal(token))))}
}

func literal(token json.Token) string {
	b, _ := json.Marshal(token)
	return string(b)
}

func (n *node) structured() bool { return n != nil && (n.kind == 'o' || n.kind == 'a') }

// leaves lists the strings and numbers of a value; all is false if it has other ones.
func (n *node) leaves() (found []*node, all bool) {
	switch n.kind {
	case 's', 'n':
		return []*node{n}, true
	case 'c':
		return nil, false
	}
	all = true
	for _, m := range n.members {
		more, every := m.leaves()
		found, all = append(found, more...), all && every
	}
	return found, all
}

// at lists the values at a pointer; complete is false if a path ends before.
func (n *node) at(pointer []string) (found []*node, complete bool) {
	if len(pointer) == 0 {
		return []*node{n}, true
	}
	complete = true
	some := false
	for _, m := range n.members {
		if pointer[0] == "*" || pointer[0] == m.label {
			some = true
			more, whole := m.at(pointer[1:])
			found, complete = append(found, more...), complete && whole
		}
	}
	if !some && !(pointer[0] == "*" && n.structured()) {
		return found, false
	}
	return found, complete
}

// under lists the objects of a value.
func (n *node) objects() (found []*node) {
	if n.kind == 'o' {
		found = append(found, n)
	}
	for _, m := range n.members {
		found = append(found, m.objects()...)
	}
	return found
}
