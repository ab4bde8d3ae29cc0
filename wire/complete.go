package wire

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
)

// Complete is the longest part of an argument text that is one object: the members of
// its top level that were complete before it was cut, or went wrong (DECISIONS S7). It
// is written into histories, and never run.
func Complete(text []byte) []byte {
	c := completed{}
	p := jsonstream.NewParser(&c, jsonstream.Options{ObjectRoot: true})
	if p.Feed(text) == nil && p.Close() == nil {
		return text
	}
	switch {
	case c.whole: // what went wrong stands behind it
		return text[:c.end]
	case c.end == 0:
		return []byte("{}")
	}
	part := bytes.TrimRight(text[:c.end], ", \t\r\n")
	return append(part[:len(part):len(part)], '}')
}

// completed notes where the last member ended that is complete.
type completed struct {
	depth int
	end   int64
	whole bool // the object itself ended there
}

// Event implements [jsonstream.Handler].
func (c *completed) Event(e *jsonstream.Event) (stop bool) {
	switch e.Kind {
	case jsonstream.ObjectStart, jsonstream.ArrayStart:
		c.depth++
		return false
	case jsonstream.ObjectEnd, jsonstream.ArrayEnd:
		if c.depth--; c.depth == 0 {
			c.whole, c.end = true, e.Offset
		}
	case jsonstream.Key, jsonstream.StringStart, jsonstream.StringPart, jsonstream.End:
		return false
	}
	if c.depth == 1 {
		c.end = e.Offset // of a number, behind what ends it
	}
	return false
}
