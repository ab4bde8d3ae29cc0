package source

import (
	"bytes"
	"net/mail"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxIdentity is the longest value that a condition of a source compares.
const maxIdentity = 4096

// identity returns the value of an argument or a member as conditions of sources compare it: the
// address without its display name, else the text with the kind that it has by its form. ok is
// false for a value without one identity, as two addresses.
func identity(text []byte, number bool) (value []byte, kind flow.Kind, ok bool) {
	text = bytes.TrimSpace(text)
	switch s := string(text); {
	case len(text) == 0 || len(text) > maxIdentity:
		return nil, 0, false
	case number:
		return text, flow.Number, true
	case strings.Contains(s, "://"):
		return text, flow.URL, true
	case strings.LastIndexByte(s, '@') > 0:
		a, err := mail.ParseAddress(s)
		if err != nil {
			return nil, 0, false
		}
		return []byte(a.Address), flow.Email, true
	case isPath(s):
		return text, flow.Path, true
	case strings.ContainsAny(s, "0123456789_-./#:") && !strings.ContainsAny(s, " \t\r\n"):
		return text, flow.ID, true
	}
	return text, flow.Text, true
}

// isPath reports whether a text has the form of a path with a root.
func isPath(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
		strings.HasPrefix(s, `\`) || len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// ownAddresses are the addresses of the agent and its user, folded.
type ownAddresses []string

func newOwn(addresses []string) ownAddresses {
	var own ownAddresses
	for _, a := range addresses {
		own = append(own, fold(a))
	}
	return own
}

// contains reports whether a value is an own address. An address with a tag, me+tag@example.com, is
// delivered like the one without.
func (o ownAddresses) contains(value []byte) bool {
	if len(o) == 0 {
		return false
	}
	s := fold(string(value))
	if slices.Contains(o, s) {
		return true
	}
	local, domain, ok := strings.Cut(s, "@")
	local, _, tagged := strings.Cut(local, "+")
	return ok && tagged && slices.Contains(o, local+"@"+domain)
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// finder reports whether a value certainly occurs in a text of the sources of a query.
type finder func(value []byte, q flow.Query) bool

// hold reports whether all requirements hold on a value. Each needs at least one value at its
// pointer, and every leaf there must satisfy it.
func hold(all []requirement, v jsonstream.Value, find finder, own ownAddresses) bool {
	for i := range all {
		if !all[i].holds(v, find, own) {
			return false
		}
	}
	return true
}

func (q *requirement) holds(v jsonstream.Value, find finder, own ownAddresses) bool {
	values, complete := resolve(nil, v, q.pointer)
	if q.pattern != nil { // of a source that nobody trusts: one text is enough
		return !complete || slices.ContainsFunc(values, q.matches)
	}
	if !complete || len(values) == 0 {
		return false
	}
	for _, at := range values {
		if q.literal != "" {
			if string(jsonstream.AppendCanonical(nil, at)) != q.literal {
				return false
			}
			continue
		}
		texts, good := 0, 0
		all := everyLeaf(at, func(leaf jsonstream.Value) {
			texts++
			if q.known(leaf, find, own) {
				good++
			}
		})
		if !all || texts == 0 || good < texts {
			return false
		}
	}
	return true
}

// excludes reports whether arguments certainly do not fit a constant or a pattern.
func (q *requirement) excludes(args jsonstream.Value) bool {
	_, complete := resolve(nil, args, q.pointer)
	return len(q.from) == 0 && complete && !q.holds(args, nil, nil)
}

// matches reports whether a leaf of a value matches the pattern.
func (q *requirement) matches(v jsonstream.Value) (found bool) {
	everyLeaf(v, func(leaf jsonstream.Value) { found = found || q.pattern.Match(textOf(leaf)) })
	return found
}

// known reports whether a leaf comes from the sources of the requirement.
func (q *requirement) known(leaf jsonstream.Value, find finder, own ownAddresses) bool {
	text := textOf(leaf)
	value, kind, ok := identity(text, leaf.Kind() == jsonstream.Number)
	if !ok || own.contains(value) || own.contains(text) {
		return false
	}
	if q.label != nil {
		if value, ok = labelled(q.label, value); !ok {
			return false
		}
		kind = flow.Text
	}
	if q.stated {
		kind = q.as
	}
	return find(value, flow.Query{Kind: kind, Relation: q.relation, Sources: q.from})
}

// everyLeaf calls each for the leaves that are texts, and reports whether all leaves are.
func everyLeaf(v jsonstream.Value, each func(leaf jsonstream.Value)) (all bool) {
	switch v.Kind() {
	case jsonstream.String, jsonstream.Number:
		each(v)
		return true
	case jsonstream.Array:
		all = true
		for e := range v.Elements() {
			all = everyLeaf(e, each) && all
		}
		return all
	case jsonstream.Object:
		all = true
		for _, m := range v.Members() {
			all = everyLeaf(m, each) && all
		}
		return all
	}
	return false
}
