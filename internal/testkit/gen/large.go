package gen

import (
	"fmt"
	"strings"
)

// Large writes a policy of n rules for one tool, and some more with patterns.
func Large(n, patterns int) []byte {
	var b strings.Builder
	b.WriteString("version = 1\n[tools.t.parameters]\npath = { type = \"path\" }\nn = { type = \"integer\" }\n[tools.t.policy]\nrun = [\n")
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "{ arg = \"/path\", prefix = \"dir%d/sub\", mode = \"ask\" },\n", i)
		case 1:
			fmt.Fprintf(&b, "{ arg = \"/path\", const = \"file%d.go\", mode = \"deny\" },\n", i)
		case 2:
			fmt.Fprintf(&b, "{ arg = \"/n\", const = %d, mode = \"ask\" },\n", i)
		default:
			fmt.Fprintf(&b, "{ arg = \"/path\", enum = [\"a%d\", \"b%d/c\"], mode = \"skip\" },\n", i, i)
		}
		if patterns > 0 && i%(n/patterns) == 0 {
			fmt.Fprintf(&b, "{ arg = \"/path\", pattern = '%s', mode = \"ask\" },\n", fmt.Sprintf([]string{`^pkg%d/[a-z]+_test\.go$`, `\.ext%d$`, `(^|/)v%d/`}[i%3], i))
		}
	}
	b.WriteString("{ mode = \"ask\" },\n]\n")
	return []byte(b.String())
}
