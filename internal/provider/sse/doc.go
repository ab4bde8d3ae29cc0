// Package sse decodes and encodes server-sent events as the WHATWG HTML standard defines
// them, without copying and without losing a byte.
//
// A [Decoder] owns one buffer. The caller reads from the network into its free part and
// then takes out every complete unit. The slices of a unit point into the buffer and are
// valid until the next call of Next or Space:
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
//			break // len(d.Tail()) > 0: the stream was truncated inside an event
//		}
//	}
//
// The units do not depend on how reads split the bytes. An unchanged unit is written byte
// for byte as it arrived. The exception is framing that clients parse differently: a lone
// CR, a NUL, a byte order mark, an unknown field, or a character that ends lines for some
// clients. Such a unit is framed again with LF and without these (F12). Output never breaks
// the framing. Work is linear in the bytes, and the limits bound memory.
package sse
