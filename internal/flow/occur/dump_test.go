package occur

import "fmt"

// show prints needles.
func show(list []Needle) (out string) {
	for _, n := range list {
		out += fmt.Sprintf(" %s%q", n.Kind, n.Tokens)
	}
	return out
}
