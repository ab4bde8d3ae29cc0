package learn

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxCases is how many cases a proposal gets.
const maxCases = 3

// Cases returns cases for the tests of the policy, as text of such a file: calls that the proposals permit, and
// refused ones that they do not.
func (r *Result) Cases(list []Proposal) string {
	var b strings.Builder
	for _, p := range list {
		n := 0
		add := func(name string, args []byte, expect stopgate.Mode) {
			if root, err := jsonstream.Parse(args, jsonstream.Options{MaxExponent: jsonstream.AnyExponent}); err == nil {
				n++
				fmt.Fprintf(&b, "\n[[case]]\nname = %s\ntool = %s\nargs = %s\nexpect = %s\n", tomltree.Quote(fmt.Sprintf("%s %s, %d", name, p.ID, n)),
					tomltree.Quote(string(p.Tool)), inline(root), tomltree.Quote(expect.String()))
			}
		}
		seen := map[string]bool{}
		for _, u := range p.units {
			if n < maxCases && !seen[string(u.args)] && len(u.args) <= maxCase {
				seen[string(u.args)] = true
				add("learned", u.args, stopgate.Unattended)
			}
		}
		n = 0
		for _, e := range r.refused {
			if e.row.Record.Tool != p.Tool || e.args == nil || len(e.args) > maxCase || n >= maxCases || secret(e.args) {
				continue
			}
			if mode := r.declared.mode(e.row.call(), e.args); mode == stopgate.Ask {
				add("refused, by", e.args, mode)
			}
		}
	}
	return b.String()
}

// maxCase is the longest arguments of a case, in bytes: tests are read by people.
const maxCase = 2048

// inline writes a JSON value as TOML.
func inline(v jsonstream.Value) string {
	switch v.Kind() {
	case jsonstream.Object:
		var members []string
		for key, member := range v.Members() {
			members = append(members, tomltree.Key(key.Text())+" = "+inline(member))
		}
		if len(members) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(members, ", ") + " }"
	case jsonstream.Array:
		var elements []string
		for e := range v.Elements() {
			elements = append(elements, inline(e))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	is := value{json: string(v.Raw()), is: v.Kind()}
	if is.is == jsonstream.String {
		is.text = v.Text()
	}
	text, _ := is.literal()
	return text
}
