package provider

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
)

// CompletePrefix returns the longest prefix of an argument text that can be closed to an
// object: the top-level members that were complete before the text was truncated or became
// invalid (S7). The result is written into histories; it is never run.
func CompletePrefix(text []byte) []byte {
	c := prefixFinder{}
	p := jsonstream.NewParser(&c, jsonstream.Options{ObjectRoot: true})
	if p.Feed(text) == nil && p.Close() == nil {
		return text
	}
	switch {
	case c.complete: // the error is after the object
		return text[:c.end]
	case c.end == 0:
		return []byte("{}")
	}
	part := bytes.TrimRight(text[:c.end], ", \t\r\n")
	return append(part[:len(part):len(part)], '}')
}

// prefixFinder records where the last complete member ended.
type prefixFinder struct {
	depth    int
	end      int64
	complete bool // the object itself ended at end
}

// Event implements [jsonstream.Handler].
func (c *prefixFinder) Event(e *jsonstream.Event) (stop bool) {
	switch e.Kind {
	case jsonstream.ObjectStart, jsonstream.ArrayStart:
		c.depth++
		return false
	case jsonstream.ObjectEnd, jsonstream.ArrayEnd:
		if c.depth--; c.depth == 0 {
			c.complete, c.end = true, e.Offset
		}
	case jsonstream.Key, jsonstream.StringStart, jsonstream.StringPart, jsonstream.End:
		return false
	}
	if c.depth == 1 {
		c.end = e.Offset // for a number: after the byte that ends it
	}
	return false
}
