package eval

import (
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// accepts describes the values that satisfy a permissive condition on their origin, for a model: "/to
// is a value that the user named or a result of search_contacts has". It is "" where that needs names
// that only the policy has.
func accepts(f *syntax.File, k *cond) string {
	if k.kind != condition.From {
		return ""
	}
	var from []string
	for _, source := range k.ast.Spec.Values {
		switch name := flow.Source(source.Text); name {
		case flow.User:
			from = append(from, "the user named")
		case flow.System:
			from = append(from, "the instructions name")
		case flow.Tool:
			from = append(from, "a result has")
		default:
			table := f.SourceNamed(name)
			if table == nil || len(table.Tools) == 0 || len(table.Tools) > maxInstead {
				return ""
			}
			for _, tool := range table.Tools {
				if !plain(tool) {
					return ""
				}
			}
			from = append(from, "a result of "+strings.Join(table.Tools, " or ")+" has")
		}
	}
	about := strings.TrimSuffix(k.expanded, "/*")
	if k.ast.Every {
		about = "every value"
	}
	return about + " is a value that " + strings.Join(from, " or ")
}
