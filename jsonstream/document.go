package jsonstream

import "slices"

// Document is a complete JSON text and a flat tape of its values. It is filled by Scan or
// by an [Aggregator] and can be reused; filling it again invalidates its values. The zero
// Document is empty: its root is invalid.
//
// The tape needs 16 bytes for each key and value and is retained for reuse up to 1 MiB, as
// every buffer of this package.
type Document struct {
	text  []byte
	nodes []node
	// complete is set when the tape describes one whole, accepted value.
	complete bool
	// canonicalQuotes is set if an Aggregator wrote the text, with every string in the
	// encoding of AppendQuote.
	canonicalQuotes bool
	// open are the containers that are not closed yet.
	open []openNode
	// options, known, and keys, which are those of the open objects, are used by Scan.
	options Options
	keys    keySet
	known   func(rest []byte) int
}

// node is one key or value. The members of an object follow its node as key, value, key,
// value.
type node struct {
	start, end uint32 // its span in the text
	next       uint32 // the node after it and everything below it
	info       uint32 // kind, escape mark, number of members or elements
}

const (
	infoKind    = 0xF    // mask of the Kind
	infoEscaped = 1 << 4 // the string contains an escape
	infoOne     = 1 << 5 // one member or element
)

// push appends a node. A long tape doubles: append alone would copy it more often.
func (d *Document) push(n node) {
	if len(d.nodes) == cap(d.nodes) {
		d.nodes = slices.Grow(d.nodes, max(16, len(d.nodes)))
	}
	d.nodes = append(d.nodes, n)
}

// Reset empties the document.
func (d *Document) Reset() {
	d.text, d.nodes, d.complete, d.canonicalQuotes = nil, reuse(d.nodes, maxKeptItems), false, false
	d.open = d.open[:0]
}

// Root returns the value of the document. It is invalid unless a scan succeeded or an
// aggregator processed the end of the root.
func (d *Document) Root() Value {
	if !d.complete {
		return Value{}
	}
	return Value{doc: d}
}

// Text returns the text that the document describes: the caller's text for Scan, its own
// for an Aggregator. It is nil if Root is invalid.
func (d *Document) Text() []byte {
	if !d.complete {
		return nil
	}
	return d.text
}

// maxKeptBytes and maxKeptItems limit the buffers that are retained for reuse: 1 MiB of
// text, 1 MiB of nodes or keys.
const (
	maxKeptBytes = 1 << 20
	maxKeptItems = maxKeptBytes / 16
)

// reuse empties a buffer for reuse, or drops it if it has grown beyond limit.
func reuse[T any](s []T, limit int) []T {
	if cap(s) > limit {
		return nil
	}
	return s[:0]
}
