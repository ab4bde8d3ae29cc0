package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The benchmarks compare the gateway, without a store, with Go's ReverseProxy on the same
// traffic in the same run; the numbers are ratios (K43). Provider, proxy and gateway are
// processes of their own, the client is this one. The CPU ratio is given for the whole chain
// and for the process in the middle alone. make bench-gateway measures the program as users run it.
//
//	go test ./gateway -run '^$' -bench . -benchtime 8x

// speak makes a chain use the dialect and the form of a script.
func (c chain) speak(script string) chain {
	switch script {
	case "responses":
		c.path, c.request, c.end = responsesPath, benchResponses, "}\n\n"
	case "messages":
		c.path, c.request, c.end = anthropicPath, benchMessages, "}\n\n"
	case "small", "large":
		c.request, c.end = strings.Replace(benchRequest, `"stream":true`, `"stream":false`, 1), "}}"
	}
	return c
}

func benchFlood(b *testing.B, script string) {
	source, proxy, gated := chains(b, script)
	for _, workers := range []int{8, 64} {
		b.Run(fmt.Sprintf("streams=%d", workers), func(b *testing.B) {
			compare(b, source, proxy.speak(script), gated.speak(script), workers, max(64, workers))
		})
	}
}

// compare reports the cost of a chain relative to another one, in alternating rounds.
func compare(b *testing.B, source part, proxy, gated chain, workers, streams int) {
	for _, c := range []chain{proxy, gated} { // connections and pools
		c.flood(b, source, workers, workers)
	}
	var wall, all, own []float64
	b.ResetTimer()
	for range b.N {
		pw, pa, po := proxy.flood(b, source, workers, streams)
		gw, ga, go_ := gated.flood(b, source, workers, streams)
		wall, all, own = append(wall, gw/pw), append(all, ga/pa), append(own, go_/po)
	}
	b.ReportMetric(median(wall), "time/proxy")
	b.ReportMetric(median(all), "chain-cpu/proxy")
	b.ReportMetric(median(own), "own-cpu/proxy")
	b.ReportMetric(0, "ns/op")
}

// Budgets: time 1.05, CPU 1.25 for calls; 1.15 and 1.5 for text.
func BenchmarkFloodCalls(b *testing.B) { benchFlood(b, "calls") }
func BenchmarkFloodText(b *testing.B)  { benchFlood(b, "text") }

// BenchmarkFloodResponses is the flood of calls in the dialect that repeats the arguments four
// times; all four are compared and written.
func BenchmarkFloodResponses(b *testing.B) { benchFlood(b, "responses") }

// BenchmarkFloodMessages is the flood of calls in the dialect of Messages.
func BenchmarkFloodMessages(b *testing.B) { benchFlood(b, "messages") }

// BenchmarkFloodWhole is the same without streaming: a call of 200 bytes, and one in a body of 77
// KB.
func BenchmarkFloodWhole(b *testing.B) {
	for _, script := range []string{"small", "large"} {
		b.Run(fmt.Sprintf("body=%d", len(scriptedProvider(script).(*pacedProvider).whole)), func(b *testing.B) {
			source, proxy, gated := chains(b, script)
			compare(b, source, proxy.speak(script), gated.speak(script), 8, 512)
		})
	}
}

// BenchmarkFloodPolicies is the flood of text through a gateway with an observer and redacting
// event policies, compared with one without both.
func BenchmarkFloodPolicies(b *testing.B) {
	source := part{url: start(b, "provider", "text")}
	plain, policed := newChain(b, start(b, "gateway", source.url)), newChain(b, start(b, "policies", source.url))
	compare(b, source, plain, policed, 8, 64)
}

// BenchmarkPaced measures the time of an event from the provider's write to the client's read: 32
// streams at once, one event per 10 ms.
func BenchmarkPaced(b *testing.B) {
	const streams = 32
	_, proxy, gated := chains(b, "paced")
	p99 := func(c chain) float64 {
		var mu sync.Mutex
		var all []float64
		var wg sync.WaitGroup
		for range streams {
			wg.Go(func() {
				var mine []float64
				_, err := c.fetch(func(p []byte) {
					now := time.Now().UnixNano()
					for _, part := range bytes.Split(p, []byte(`"t":"`))[1:] {
						sent, err := strconv.ParseInt(string(part[:len(stampMark)]), 10, 64)
						if err == nil {
							mine = append(mine, float64(now-sent)/1e3)
						}
					}
				})
				if err != nil {
					b.Error(err)
				}
				mu.Lock()
				all = append(all, mine...)
				mu.Unlock()
			})
		}
		wg.Wait()
		sort.Float64s(all)
		return all[len(all)*99/100]
	}
	p99(proxy)
	p99(gated)
	var ours, theirs, diff []float64
	b.ResetTimer()
	for range b.N {
		t, o := p99(proxy), p99(gated)
		ours, theirs, diff = append(ours, o), append(theirs, t), append(diff, o-t)
	}
	b.ReportMetric(median(theirs), "proxy-p99-us")
	b.ReportMetric(median(ours), "p99-us")
	b.ReportMetric(median(diff), "diff-us")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkExchange measures the gateway's own work without sockets: one stream of 64 KiB, or one
// body, is read from memory and discarded.
func BenchmarkExchange(b *testing.B) {
	for _, script := range []string{"calls", "text", "responses", "messages", "small", "large"} {
		c, p := chain{path: chatPath, request: benchRequest, end: chatDone}.speak(script), scriptedProvider(script).(*pacedProvider)
		body, kind, events := bytes.Join(p.events, nil), "text/event-stream", len(p.events)
		if p.whole != nil {
			body, kind, events = p.whole, "application/json", 1
		}
		b.Run(script, func(b *testing.B) {
			gw := benchGatewayOver(roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(p.whole))}, nil
			}))
			b.ReportAllocs()
			cpu := processCPU()
			for b.Loop() {
				w := &nowhere{header: http.Header{}}
				gw.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+c.path, strings.NewReader(c.request)))
				if !strings.HasSuffix(w.tail, c.end) {
					b.Fatalf("the stream ends in %q", w.tail)
				}
			}
			b.ReportMetric(float64(processCPU()-cpu)/float64(b.N)/float64(events), "cpu-ns/event")
		})
	}
}

// nowhere is a ResponseWriter that stores the end of the response.
type nowhere struct {
	header http.Header
	tail   string
}

func (w *nowhere) Header() http.Header { return w.header }
func (w *nowhere) WriteHeader(int)     {}
func (w *nowhere) Flush()              {}
func (w *nowhere) Write(p []byte) (int, error) {
	const keep = len("data: [DONE]\n\n")
	w.tail += string(p[max(0, len(p)-keep):])
	w.tail = w.tail[max(0, len(w.tail)-keep):]
	return len(p), nil
}
