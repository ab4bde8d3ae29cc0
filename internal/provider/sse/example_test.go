package sse_test

import (
	"fmt"
	"io"
	"strings"
	"testing/iotest"

	"github.com/stopgate/stopgate/internal/provider/sse"
)

// A proxy reads a stream in chunks of any size, inspects the payloads, and forwards the
// units.
func ExampleDecoder() {
	body := iotest.OneByteReader(strings.NewReader(": a comment\n\nevent: greeting\ndata: hello\n\ndata: [DONE]\n\n"))
	d := sse.NewDecoder(make([]byte, 8<<10), sse.Limits{})
	defer d.Close()
	var ev sse.Event
	var out []byte
	for {
		n, err := body.Read(d.Space())
		d.Filled(n)
		for {
			ok, limit := d.Next(&ev)
			if limit != nil {
				fmt.Println(limit)
				return
			}
			if !ok {
				break
			}
			if string(ev.Type) != "greeting" {
				out = ev.AppendTo(out)
				continue
			}
			out = ev.AppendHead(out)
			payload := len(out)
			out = ev.AppendTail(append(out, "good day"...), payload)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%s%d bytes are left over\n", out, len(d.Tail()))
	// Output:
	// : a comment
	//
	// event: greeting
	// data: good day
	//
	// data: [DONE]
	//
	// 0 bytes are left over
}
