package author

import (
	"fmt"
	"io"
	"strings"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/knowntools"
)

// knownProduct is a product of the table of known tools as check --known-tools writes it;
// it changes only by addition.
type knownProduct struct {
	Product  string      `json:"product"`
	Title    string      `json:"title"`
	Source   string      `json:"source"`
	Hosts    []string    `json:"hosts"`
	Servers  []string    `json:"servers"`
	Includes []string    `json:"includes"`
	Tools    []knownTool `json:"tools"`
}

type knownTool struct {
	Names      []string         `json:"names"`
	Class      string           `json:"class"`
	Harmless   bool             `json:"harmless"`
	Effect     bool             `json:"effect"`
	Source     string           `json:"source"`
	Varies     []string         `json:"varies,omitempty"`
	Parameters []knownParameter `json:"parameters"`
}

type knownParameter struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Type string `json:"type"`
}

// writeKnownTools prints the table of known tools.
func writeKnownTools(out io.Writer, format cli.Format) error {
	var list []knownProduct
	for _, p := range knowntools.All() {
		k := knownProduct{
			Product: p.Name, Title: p.Title, Source: p.Source,
			Hosts: append([]string{}, p.Hosts...), Servers: append([]string{}, p.Servers...), Includes: append([]string{}, p.Includes...),
		}
		for _, t := range p.Tools {
			row := knownTool{Names: t.Names, Class: string(t.Class), Harmless: t.Harmless, Effect: t.Effect, Source: t.Source, Varies: t.Varies, Parameters: []knownParameter{}}
			for _, p := range t.Parameters {
				row.Parameters = append(row.Parameters, knownParameter{p.String(), string(p.Kind), p.Kind.Type()})
			}
			k.Tools = append(k.Tools, row)
		}
		list = append(list, k)
	}
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s (%s)\n", p.Title, p.Product)
		fmt.Fprintf(&b, "  source: %s\n", p.Source)
		for _, l := range []struct {
			what string
			list []string
		}{{"host", p.Hosts}, {"MCP server", p.Servers}, {"then the rows of", p.Includes}} {
			if len(l.list) > 0 {
				fmt.Fprintf(&b, "  %s: %s\n", l.what, strings.Join(l.list, ", "))
			}
		}
		for _, t := range p.Tools {
			fmt.Fprintf(&b, "  %s (%s", strings.Join(t.Names, ", "), t.Class)
			if t.Harmless {
				b.WriteString(", harmless")
			}
			if t.Effect {
				b.WriteString(", effect")
			}
			b.WriteByte(')')
			for i, p := range t.Parameters {
				b.WriteString([2]string{": ", ", "}[min(i, 1)] + p.Name)
				if p.Kind != string(knowntools.Value) {
					b.WriteString(" " + p.Kind)
				}
			}
			b.WriteByte('\n')
		}
	}
	return format.Print(out, map[string]any{"version": knowntools.Version, "products": list}, b.String())
}
