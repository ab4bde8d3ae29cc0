// Package upstream sends requests to model providers. It validates their addresses, pools their
// connections, and chooses the provider of a request.
//
//	set, err := upstream.OpenSet(configured, timeouts, guarded, nil)
//	up := set.Choose("openai", model, r)
//	out, err := up.Request(ctx, r, &payload, body)
//	answer, err := up.Transport.RoundTrip(out)
//
// Requests are built from scratch. Link-local, multicast and metadata addresses are never dialled,
// whatever name resolves to them (F18).
package upstream

// ReadBuffer is the size of a connection's read buffer. One read returns everything that the
// connection has buffered if the reader's buffer has this size.
const ReadBuffer = 8 << 10
