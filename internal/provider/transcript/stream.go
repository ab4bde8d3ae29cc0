package transcript

import (
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Each calls f with every event of a stream that is a JSON object, in order.
func Each(data []byte, f func(root jsonstream.Value)) {
	var d sse.Decoder
	d.Reset(make([]byte, 4<<10), sse.Limits{})
	defer d.Close()
	var ev sse.Event
	for len(data) > 0 {
		n := copy(d.Space(), data)
		d.Filled(n)
		data = data[n:]
		for {
			ok, err := d.Next(&ev)
			if err != nil {
				return
			}
			if !ok {
				break
			}
			if root, ok := Parse(ev.Data); ok && ev.Dispatched && root.Kind() == jsonstream.Object {
				f(root)
			}
		}
	}
}

// Number returns a small number, or -1 for any other value.
func Number(v jsonstream.Value) int {
	d, ok := v.Decimal()
	if !ok {
		return -1
	}
	n, ok := d.Int64()
	if !ok || n < 0 || n > 1<<20 {
		return -1
	}
	return int(n)
}
