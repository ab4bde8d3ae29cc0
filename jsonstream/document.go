package jsonstream

import "slices"

// Document is a complete JSON text and a flat tape of its values. It is filled
// by Scan or by an [Aggregator] and can be reused; filling it again ends the
// life of its values. The zero Document is empty: its root is invalid.
//
// The tape takes 16 bytes for each key and value and is kept for reuse up to
// 1 MiB, as every buffer of this package.
type Document struct {
	text  []byte
	nodes []node
	// complete is set when the tape describes one whole, accepted value.
	complete bool
	// ours is set when the text is in our own spelling, by an Aggregator.
	ours bool
	// open are the containers that are not closed yet.
	open []openNode
	// options and keys, those of the open objects, are for Scan.
	options Options
	keys    keySet
	known   func(rest []byte) int
}

// node is one key or value. Members lie as key, value, key, value behind their
// object.
type node struct {
	start, end uint32 // its span in the text
	next       uint32 // the node behind it and everything below it
	info       uint32 // kind, escape mark, number of members or elements
}

const (
	infoKind    = 0xF    // mask of the Kind
	infoEscaped = 1 << 4 // the string contains an escape
	infoOne     = 1 << 5 // one member or element
)

// push appends a node. A long tape doubles: append alone would copy it more
// often.
func (d *Document) push(n node) {
	if len(d.nodes) == cap(d.nodes) {
		d.nodes = slices.Grow(d.nodes, max(16, len(d.nodes)))
	}
	d.nodes = append(d.nodes, n)
}

// Reset empties the document.
func (d *Document) Reset() {
	d.text, d.nodes, d.complete, d.ours = nil, keep(d.nodes, keptItems), false, false
	d.open = d.open[:0]
}

// Root returns the document's value; it is invalid unless a scan succeeded or an
// aggregator saw the end of the root.
func (d *Document) Root() Value {
	if !d.complete {
		return Value{}
	}
	return Value{doc: d}
}

// Text returns the text the document describes: for Scan the caller's, for an
// Aggregator its own. It is nil where Root is invalid.
func (d *Document) Text() []byte {
	if !d.complete {
		return nil
	}
	return d.text
}

// keptBytes and keptItems are how large buffers may be to be kept for reuse:
// 1 MiB of text, 1 MiB of nodes or keys.
const (
	keptBytes = 1 << 20
	keptItems = keptBytes / 16
)

// keep empties a buffer for reuse, or drops it if it has grown beyond limit.
func keep[T any](s []T, limit int) []T {
	if cap(s) > limit {
		return nil
	}
	return s[:0]
}
