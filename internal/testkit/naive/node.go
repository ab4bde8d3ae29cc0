package naive

import (
	"fmt"
	"strings"
)

// Never is the offset of something that did not happen.
const Never = int(^uint(0) >> 2)

// The kinds of a [Node].
const (
	Object = "object"
	Array  = "array"
	String = "string"
	Number = "number"
	Bool   = "boolean"
	Null   = "null"
)

// Node is one JSON value with the offsets at which it became known. An offset is
// a count of bytes: n means "with the nth byte".
type Node struct {
	Kind    string
	Text    string // String: decoded; Number: the literal; Bool: "true" or "false"
	Start   int    // the first byte
	End     int    // the byte that completes it; for numbers and names the byte behind it
	Ends    []int  // String: the offset of the last byte of every code point
	Members []Member
	Elems   []*Node
	line    *Node // of an array that is an argument vector: see vector
}

// Member is one key of an object and its value; Value is nil if the text ends or
// breaks before it begins.
type Member struct {
	Key   string
	At    int // closing quote of the key
	Value *Node
}

// Get returns the value of a key, nil if the object has none.
func (n *Node) Get(key string) *Node {
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// JSON writes a value as text.
func (n *Node) JSON() string {
	var b strings.Builder
	switch n.Kind {
	case String:
		b.WriteByte('"')
		for _, c := range n.Text {
			if c < 0x20 || c == '"' || c == '\\' {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteRune(c)
			}
		}
		b.WriteByte('"')
	case Array:
		for i, e := range n.Elems {
			b.WriteString(separator("[", i) + e.JSON())
		}
		b.WriteString(strings.Repeat("[", 1-min(1, len(n.Elems))) + "]")
	case Object:
		for i, m := range n.Members {
			key := Node{Kind: String, Text: m.Key}
			b.WriteString(separator("{", i) + key.JSON() + ":" + m.Value.JSON())
		}
		b.WriteString(strings.Repeat("{", 1-min(1, len(n.Members))) + "}")
	default:
		b.WriteString(n.Text)
	}
	return b.String()
}

func separator(open string, i int) string {
	if i == 0 {
		return open
	}
	return ","
}
