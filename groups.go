package stopgate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Groups are the groups of a principal, as the operator's identity provider or configuration names
// them: sorted, each once. In the zero Groups it is unknown which groups the principal is in: rules
// that restrict a group hold then, rules that permit one do not. Groups are comparable.
type Groups struct {
	// text has a line feed before the first and after every name, so that every name is between two
	// of them; "" is unknown.
	text string
}

// Bounds of [Groups].
const (
	MaxGroups    = 256 // groups of one principal
	MaxGroupName = 256 // bytes of a name
)

// GroupsOf returns the groups with these names, in any order. Without names they are known to be
// none. A name is 1 to [MaxGroupName] bytes of printable UTF-8.
func GroupsOf(names ...string) (Groups, error) {
	if len(names) > MaxGroups {
		return Groups{}, fmt.Errorf("groups: %d names, at most %d", len(names), MaxGroups)
	}
	for _, name := range names {
		switch {
		case name == "":
			return Groups{}, fmt.Errorf("groups: an empty name")
		case len(name) > MaxGroupName:
			return Groups{}, fmt.Errorf("groups: a name of %d bytes, at most %d", len(name), MaxGroupName)
		case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
			return Groups{}, fmt.Errorf("groups: %q has characters that are not printable", name)
		}
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(names)))
	return Groups{"\n" + strings.Join(append(sorted, ""), "\n")}, nil
}

// Known reports whether it is known which groups the principal is in.
func (g Groups) Known() bool { return g.text != "" }

// Contains reports whether a group of this name is one of them.
func (g Groups) Contains(name string) bool {
	return name != "" && !strings.Contains(name, "\n") && strings.Contains(g.text, "\n"+name+"\n")
}

// All lists the names in their order.
func (g Groups) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range strings.SplitSeq(g.text, "\n") {
			if name != "" && !yield(name) {
				return
			}
		}
	}
}

// Names returns the names in their order, nil if they are unknown or there are none.
func (g Groups) Names() []string { return slices.Collect(g.All()) }

// IsZero reports whether the groups are unknown.
func (g Groups) IsZero() bool { return g.text == "" }

// MarshalJSON writes an array of names, or null if the groups are unknown.
func (g Groups) MarshalJSON() ([]byte, error) {
	if !g.Known() {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // as rows are written
	err := enc.Encode(append([]string{}, g.Names()...))
	return bytes.TrimSpace(b.Bytes()), err
}

// UnmarshalJSON reads an array of names; null is unknown.
func (g *Groups) UnmarshalJSON(text []byte) error {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	if names == nil {
		*g = Groups{}
		return nil
	}
	read, err := GroupsOf(names...)
	if err == nil {
		*g = read
	}
	return err
}
