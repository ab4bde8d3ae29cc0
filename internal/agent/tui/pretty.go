package tui

import (
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// formatJSON formats JSON text for editing: one member or element per line, without other changes.
func formatJSON(text string) string {
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		return text
	}
	var b strings.Builder
	pretty(&b, v, "")
	b.WriteByte('\n')
	return b.String()
}

func pretty(b *strings.Builder, v jsonstream.Value, indent string) {
	first := true
	next := func() {
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString("\n" + indent + "  ")
	}
	switch {
	case v.Kind() == jsonstream.Object && v.Len() > 0:
		b.WriteByte('{')
		for key, value := range v.Members() {
			next()
			b.Write(key.Raw())
			b.WriteString(": ")
			pretty(b, value, indent+"  ")
		}
		b.WriteString("\n" + indent + "}")
	case v.Kind() == jsonstream.Array && v.Len() > 0:
		b.WriteByte('[')
		for value := range v.Elements() {
			next()
			pretty(b, value, indent+"  ")
		}
		b.WriteString("\n" + indent + "]")
	default:
		b.Write(v.Raw())
	}
}
