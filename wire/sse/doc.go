// Package sse decodes and encodes server-sent events as the WHATWG HTML standard
// defines them, without copying and without losing a byte.
//
// A [Decoder] owns one buffer. The caller reads from the network into the free
// part of it and then takes every complete unit out; a unit's slices point into
// the buffer and are valid until the next call of Next or Space:
//
//	d := sse.NewDecoder(make([]byte, 8<<10), sse.Limits{})
//	for {
//		n, err := body.Read(d.Space())
//		d.Filled(n)
//		for {
//			ok, limit := d.Next(&ev)
//			...
//			out = ev.AppendTo(out)
//		}
//		if err != nil {
//			break // len(d.Tail()) > 0: the stream was cut inside an event
//		}
//	}
//
// It promises (WIRE 1.1 to 1.3): the units do not depend on how the bytes were
// cut into reads; a unit that is not changed is written byte for byte as it
// came, unless its framing holds a lone CR, a NUL, a byte order mark, a field that
// the standard does not know or a character that ends lines for others: then it is
// framed anew with LF and without these; nothing that is written can break the
// framing; work is linear in the bytes, and memory is bounded by the limits.
package sse
