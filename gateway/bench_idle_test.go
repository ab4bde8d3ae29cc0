package gateway_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkIdleStream measures the memory of the middle process per idle stream: heap after a
// collection, and stacks. Budget: 64 KiB.
//
// The second part opens ten thousand streams at once; this needs a provider with HTTP/2, because a
// process may not have so many connections on both sides.
func BenchmarkIdleStream(b *testing.B) {
	b.Run("streams=256", func(b *testing.B) {
		_, proxy, gated := chains(b, "idle")
		benchIdle(b, 256, proxy, gated)
	})
	b.Run("streams=10000", func(b *testing.B) {
		source := start(b, "many", "provider")
		proxy, gated := newChain(b, start(b, "many", "proxy "+source)), newChain(b, start(b, "many", "gateway "+source))
		benchIdle(b, 10_000, proxy, gated)
	})
}

func benchIdle(b *testing.B, streams int, proxy, gated chain) {
	measure := func(c chain) (heap, stack float64) {
		heap0, stack0 := c.number(b, "heap"), c.number(b, "stack")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for range streams {
			req, _ := http.NewRequestWithContext(ctx, "POST", c.url+"/v1/chat/completions", strings.NewReader(benchRequest))
			res, err := c.client.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			defer res.Body.Close()
			if _, err := io.ReadFull(res.Body, make([]byte, 10)); err != nil {
				b.Fatal(err)
			}
		}
		kib := float64(1024 * streams)
		return float64(c.number(b, "heap")-heap0) / kib, float64(c.number(b, "stack")-stack0) / kib
	}
	var ours, stacks, theirs []float64
	for range b.N {
		heap, stack := measure(proxy)
		theirs = append(theirs, heap+stack)
		heap, stack = measure(gated)
		ours, stacks = append(ours, heap+stack), append(stacks, stack)
	}
	b.ReportMetric(median(theirs), "proxy-KiB")
	b.ReportMetric(median(ours), "KiB")
	b.ReportMetric(median(stacks), "stack-KiB")
	b.ReportMetric(0, "ns/op")
}
