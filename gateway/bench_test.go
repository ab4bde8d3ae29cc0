package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The benchmarks compare the gateway with Go's ReverseProxy on the same traffic
// in the same run; the numbers are ratios (DESIGN 8, DECISIONS K43). Provider,
// proxy and gateway are processes of their own, the client is this one. The CPU
// ratio is given for the whole chain and for the process in the middle alone.
//
//	go test ./gateway -run '^$' -bench . -benchtime 8x

// provider serves prepared events: each is one write and one flush, with a pause
// behind it if pace is set.
type provider struct {
	events [][]byte
	pace   time.Duration
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	var ticks <-chan time.Time
	if p.pace > 0 {
		t := time.NewTicker(p.pace)
		defer t.Stop()
		ticks = t.C
	}
	for _, event := range p.events {
		if ticks != nil {
			<-ticks
			event = stamp(event)
		}
		if _, err := w.Write(event); err != nil {
			return
		}
		if err := rc.Flush(); err != nil {
			return
		}
	}
}

// stampMark is where a paced event carries the time of its sending.
const stampMark = "0000000000000000000"

func stamp(event []byte) []byte {
	return bytes.Replace(event, []byte(stampMark), fmt.Appendf(nil, "%019d", time.Now().UnixNano()), 1)
}

// source is text with the escapes that source code has in JSON.
func source(n int) string {
	line := `	if err := run(ctx, "job", i); err != nil { return fmt.Errorf("job %d: %w", i, err) }` + "\n"
	return strings.Repeat(line, n/len(line)+1)[:n]
}

const chunkHead = `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"bench","system_fingerprint":"fp_1","choices":[{"index":0,"delta":`

func chunk(delta, finish string) []byte {
	return []byte(chunkHead + delta + `,"logprobs":null,"finish_reason":` + finish + "}]}\n\n")
}

// callEvents is a stream with one call whose arguments have about size bytes, in
// pieces as small as those of real models.
func callEvents(size int) [][]byte {
	const piece = 18
	args := `{"path":"src/job.go","content":` + strconv.Quote(source(size*9/10)) + `}`
	events := [][]byte{
		chunk(`{"role":"assistant","content":null}`, "null"),
		chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"fs_create_file","arguments":""}}]}`, "null"),
	}
	for part := range slices.Chunk([]byte(args), piece) {
		events = append(events, chunk(`{"tool_calls":[{"index":0,"function":{"arguments":`+strconv.Quote(string(part))+`}}]}`, "null"))
	}
	return append(events, chunk(`{}`, `"tool_calls"`), []byte("data: [DONE]\n\n"))
}

// textEvents is a stream of text only.
func textEvents(size int) [][]byte {
	const piece = 18
	events := [][]byte{chunk(`{"role":"assistant","content":""}`, "null")}
	for part := range slices.Chunk([]byte(source(size)), piece) {
		events = append(events, chunk(`{"content":`+strconv.Quote(string(part))+`,"t":"`+stampMark+`"}`, "null"))
	}
	return append(events, chunk(`{}`, `"stop"`), []byte("data: [DONE]\n\n"))
}

// responsesEvents is the stream of callEvents in the dialect of Responses, which
// says the arguments four times.
func responsesEvents(size int) [][]byte {
	const piece = 18
	args := `{"path":"src/job.go","content":` + strconv.Quote(source(size*9/10)) + `}`
	var events [][]byte
	event := func(typ, members string) {
		events = append(events, fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q,%s,\"sequence_number\":%d}\n\n", typ, typ, members, len(events)))
	}
	item := func(args string) string {
		return `{"id":"fc_1","type":"function_call","status":"completed","arguments":` + args + `,"call_id":"call_1","name":"fs_create_file"}`
	}
	event("response.created", `"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}`)
	event("response.output_item.added", `"output_index":0,"item":`+item(`""`))
	for part := range slices.Chunk([]byte(args), piece) {
		event("response.function_call_arguments.delta", `"delta":`+strconv.Quote(string(part))+`,"item_id":"fc_1","obfuscation":"w8GBz1wJ","output_index":0`)
	}
	whole := strconv.Quote(args)
	event("response.function_call_arguments.done", `"arguments":`+whole+`,"item_id":"fc_1","output_index":0`)
	event("response.output_item.done", `"output_index":0,"item":`+item(whole))
	event("response.completed", `"response":{"id":"resp_1","object":"response","status":"completed","output":[`+item(whole)+`],"usage":{"output_tokens":9}}`)
	return events
}

// role makes this test binary one part of the chain, in a process of its own: so
// the kernel wakes the parts as it would in production, and the CPU time of each
// is its own. The environment variable says "ROLE ARGUMENT".
const roleVariable = "STOPGATE_BENCH_ROLE"

func TestMain(m *testing.M) {
	role, arg, _ := strings.Cut(os.Getenv(roleVariable), " ")
	switch role {
	case "":
		goleak.VerifyTestMain(m)
	case "provider":
		serveRole(scriptedProvider(arg))
	case "proxy":
		serveRole(reverseProxy(arg))
	case "gateway":
		serveRole(benchGateway(arg))
	}
}

// serveRole serves until the parent goes away.
func serveRole(h http.Handler) {
	mux := http.NewServeMux()
	mux.HandleFunc("/bench/cpu", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, int64(processCPU())) })
	mux.HandleFunc("/bench/heap", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, memory().HeapAlloc) })
	mux.HandleFunc("/bench/stack", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, memory().StackInuse) })
	mux.Handle("/", h)
	srv := httptest.NewServer(mux)
	fmt.Println(srv.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// start runs a part of the chain and returns its address.
func start(b *testing.B, role, arg string) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role+" "+arg)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func scriptedProvider(script string) http.Handler {
	switch script {
	case "calls":
		return &provider{events: callEvents(64 << 10)}
	case "text":
		return &provider{events: textEvents(64 << 10)}
	case "responses":
		return &provider{events: responsesEvents(64 << 10)}
	case "paced":
		return &provider{events: textEvents(18 * 100), pace: 10 * time.Millisecond}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // idle
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(chunk(`{"role":"assistant","content":"x"}`, "null"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
}

func reverseProxy(target string) http.Handler {
	base, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	rp := httputil.NewSingleHostReverseProxy(base)
	rp.Transport = &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Reading the body first keeps ReverseProxy from cutting fast streams
		// (golang/go#40747).
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		rp.ServeHTTP(w, r)
	})
}

// part is one process of the chain, with its own CPU clock.
type part struct{ url string }

func (p part) number(b *testing.B, what string) int64 {
	res, err := http.Get(p.url + "/bench/" + what)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	var n int64
	if _, err := fmt.Fscan(res.Body, &n); err != nil {
		b.Fatal(err)
	}
	return n
}

// chain is a way from the client to the provider.
type chain struct {
	part
	client        *http.Client
	path, request string
	end           string // of a stream
}

func newChain(b *testing.B, url string) chain {
	t := &http.Transport{MaxIdleConnsPerHost: 512}
	b.Cleanup(t.CloseIdleConnections)
	return chain{part{url}, &http.Client{Transport: t}, chatPath, benchRequest, chatDone}
}

// chains are the same provider reached through ReverseProxy and through the
// gateway.
func chains(b *testing.B, script string) (source part, proxy, gated chain) {
	source = part{start(b, "provider", script)}
	return source, newChain(b, start(b, "proxy", source.url)), newChain(b, start(b, "gateway", source.url))
}

const benchRequest = `{"model":"bench","stream":true,"messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"fs_create_file","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}}]}`

const benchResponses = `{"model":"bench","stream":true,"input":"go","tools":[{"type":"function","name":"fs_create_file","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}]}`

// fetch reads one stream to its end and returns its length.
func (c chain) fetch(onRead func([]byte)) (int, error) {
	res, err := c.client.Post(c.url+c.path, "application/json", strings.NewReader(c.request))
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	buf := make([]byte, 32<<10)
	total, tail := 0, ""
	for {
		n, err := res.Body.Read(buf)
		if n > 0 {
			total += n
			tail = (tail + string(buf[max(0, n-16):n]))
			tail = tail[max(0, len(tail)-16):]
			if onRead != nil {
				onRead(buf[:n])
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return total, err
		}
	}
	if !strings.HasSuffix(tail, c.end) {
		return total, fmt.Errorf("the stream of %d bytes ends in %q", total, tail)
	}
	return total, nil
}

// flood runs streams over a chain, workers at a time, and returns how long it
// took and the CPU time of all parts and of the middle one alone.
func (c chain) flood(b *testing.B, source part, workers, streams int) (wall, all, own float64) {
	var wg sync.WaitGroup
	next := make(chan struct{}, streams)
	for range streams {
		next <- struct{}{}
	}
	close(next)
	cpu := func() (all, own int64) {
		own = c.number(b, "cpu")
		return own + source.number(b, "cpu") + int64(processCPU()), own
	}
	all0, own0 := cpu()
	begin := time.Now()
	for range workers {
		wg.Go(func() {
			for range next {
				if _, err := c.fetch(nil); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	all1, own1 := cpu()
	return took.Seconds(), float64(all1 - all0), float64(own1 - own0)
}

func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(xs []float64) float64 {
	sort.Float64s(xs)
	return xs[len(xs)/2]
}

func benchFlood(b *testing.B, script string) {
	source, proxy, gated := chains(b, script)
	if script == "responses" {
		proxy.path, proxy.request, proxy.end = responsesPath, benchResponses, "}\n\n"
		gated.path, gated.request, gated.end = responsesPath, benchResponses, "}\n\n"
	}
	for _, workers := range []int{8, 64} {
		b.Run(fmt.Sprintf("streams=%d", workers), func(b *testing.B) {
			streams := max(64, workers)
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
		})
	}
}

// Budgets: time 1.05, CPU 1.25 for calls; 1.15 and 1.5 for text (DESIGN 8).
func BenchmarkFloodCalls(b *testing.B) { benchFlood(b, "calls") }
func BenchmarkFloodText(b *testing.B)  { benchFlood(b, "text") }

// BenchmarkFloodResponses is the flood of calls in the dialect that says the
// arguments four times; all four are compared and written.
func BenchmarkFloodResponses(b *testing.B) { benchFlood(b, "responses") }

// BenchmarkPaced measures how long an event takes from the provider's write to
// the client's read: 32 streams at once, one event per 10 ms.
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

// BenchmarkIdleStream measures what one open stream costs the middle process while
// nothing happens: heap after a collection, and stacks. Budget: 64 KiB.
func BenchmarkIdleStream(b *testing.B) {
	const streams = 256
	_, proxy, gated := chains(b, "idle")
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
		const kib = 1024 * streams
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

func memory() (m runtime.MemStats) {
	for range 4 { // stacks shrink by half
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m
}

// BenchmarkExchange measures the gateway's own work without any socket: one
// stream of 64 KiB is read from memory and written to nowhere.
func BenchmarkExchange(b *testing.B) {
	for name, events := range map[string][][]byte{"calls": callEvents(64 << 10), "text": textEvents(64 << 10), "responses": responsesEvents(64 << 10)} {
		path, request, end := chatPath, benchRequest, "data: [DONE]\n\n"
		if name == "responses" {
			path, request, end = responsesPath, benchResponses, "}\n\n"
		}
		body := bytes.Join(events, nil)
		b.Run(name, func(b *testing.B) {
			gw := benchGatewayOver(roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(body))}, nil
			}))
			b.ReportAllocs()
			cpu := processCPU()
			for b.Loop() {
				w := &nowhere{header: http.Header{}}
				gw.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+path, strings.NewReader(request)))
				if !strings.HasSuffix(w.tail, end) {
					b.Fatalf("the stream ends in %q", w.tail)
				}
			}
			b.ReportMetric(float64(processCPU()-cpu)/float64(b.N)/float64(len(events)), "cpu-ns/event")
		})
	}
}

// nowhere is a ResponseWriter that keeps the end of what it is given.
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
