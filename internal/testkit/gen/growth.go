package gen

import (
	"fmt"
	"strings"
)

// Shapes are the policies that [Growing] writes: of several tools, of one tool with every kind of
// parameter, on paths or on command lines only, and in the table for all tools.
var Shapes = []string{"tools", "one", "paths", "commands", "every"}

// growing is the tools of growing policies, with a call of each that no rule but the last decides.
var growing = []struct{ name, parameter, kind, args string }{
	{"read", "path", "path", `{"path":"src/pkg/file.go"}`},
	{"write", "file", "path", `{"file":"src/pkg/file.go"}`},
	{"bash", "command", "command", `{"command":"git log --oneline -5"}`},
	{"fetch", "url", "url", `{"url":"https://go.dev/doc/effective_go"}`},
	{"query", "table", "string", `{"table":"customers"}`},
	{"pay", "amount", "integer", `{"amount":5}`},
}

// Growing writes a policy with n rules of a shape, and returns it with a call: the tool and its arguments.
func Growing(shape string, n int) (text []byte, tool, args string) {
	var b strings.Builder
	b.WriteString("version = 1\n")
	table := func(name string, kinds ...int) {
		fmt.Fprintf(&b, "[tools.%q.parameters]\n", name)
		for _, k := range kinds {
			fmt.Fprintf(&b, "%s = { type = %q, required = %v }\n", growing[k].parameter, growing[k].kind, len(kinds) == 1)
		}
	}
	rules := func(name string, n int, kinds ...int) {
		modes := []string{"ask", "deny", "unattended"}
		if name == "*" { // where no rule may let a call run
			modes = modes[:2]
		}
		fmt.Fprintf(&b, "[tools.%q.policy]\nrun = [\n", name)
		for i := range n - 1 {
			k := kinds[i%len(kinds)]
			fmt.Fprintf(&b, "  { arg = \"/%s\", %s, mode = %q },\n", growing[k].parameter, growingCondition(growing[k].kind, i), modes[i/6%len(modes)])
		}
		b.WriteString("  { mode = \"ask\" },\n]\n")
	}
	all := []int{0, 1, 2, 3, 4, 5}
	at := 0
	switch shape {
	case "tools":
		for i, t := range growing {
			table(t.name, i)
			rules(t.name, n/len(growing), i)
		}
	case "one":
		table("one", all...)
		rules("one", n, all...)
		return []byte(b.String()), "one", growing[0].args
	case "paths", "commands":
		if shape == "commands" {
			at = 2
		}
		table(growing[at].name, at)
		rules(growing[at].name, n, at)
	case "every":
		for i, t := range growing {
			table(t.name, i)
		}
		rules("*", n, 0, 1, 4, 5) // no type of "*" is a command or a URL
	}
	return []byte(b.String()), growing[at].name, growing[at].args
}

// growingCondition returns the condition of the rule with an index.
func growingCondition(kind string, i int) string {
	switch kind {
	case "path":
		return []string{
			fmt.Sprintf("prefix = \"services/team%d/api\"", i), fmt.Sprintf("glob = \"libs/module%d/**/*.go\"", i),
			fmt.Sprintf("const = \"docs/page%d.md\"", i), fmt.Sprintf("glob = \"app%d/*_test.go\"", i),
			fmt.Sprintf("enum = [\"cfg/a%d.toml\", \"cfg/b%d.toml\"]", i, i), fmt.Sprintf("prefix = \"data/set%d/\"", i),
		}[i%6]
	case "command":
		return []string{
			fmt.Sprintf("usage = \"tool%d status **\"", i), fmt.Sprintf("glob = \"make target%d *\"", i),
			fmt.Sprintf("const = \"npm run task%d\"", i), fmt.Sprintf("usage = \"git checkout branch%d\"", i),
		}[i%4]
	case "url":
		return fmt.Sprintf("host = \"h%d.example.com\"", i)
	case "string":
		return []string{
			fmt.Sprintf("const = \"table%d\"", i), fmt.Sprintf("glob = \"archive%d_*\"", i), fmt.Sprintf("enum = [\"a%d\", \"b%d\"]", i, i),
		}[i/6%3]
	default:
		return fmt.Sprintf("const = %d", i+10)
	}
}
