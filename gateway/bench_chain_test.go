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
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
)

// roleVariable makes this test binary one part of the chain, in its own process: the kernel then
// schedules the parts as in production, and each has its own CPU time. Its value is "ROLE
// ARGUMENT".
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
	case "policies":
		serveRole(policedGateway(arg))
	case "many":
		serveMany(arg)
	}
}

// serveRole serves until the parent exits.
func serveRole(h http.Handler) { serveAs(httptest.NewServer(withClocks(h))) }

// serveMany serves endless streams, or a proxy or gateway in front of such a provider, for more
// streams than a process may have connections: the provider uses HTTP/2.
func serveMany(arg string) {
	which, target, _ := strings.Cut(arg, " ")
	srv := httptest.NewUnstartedServer(nil)
	if which == "provider" {
		srv.Config.Handler = withClocks(scriptedProvider("idle"))
		srv.EnableHTTP2 = true
		srv.StartTLS()
		serveAs(srv)
		return
	}
	srv.StartTLS() // for the certificate that all these servers share
	transport := srv.Client().Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2, transport.ReadBufferSize = true, 8<<10
	h := newBenchGateway(gateway.Upstream{ID: "test", BaseURL: target, Transport: transport})
	if which == "proxy" {
		h = reverseProxyOver(target, transport)
	}
	serveAs(httptest.NewServer(withClocks(h)))
}

// withClocks also serves the clocks of the process to the benchmark.
func withClocks(h http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/bench/cpu", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, int64(processCPU())) })
	mux.HandleFunc("/bench/heap", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, memory().HeapAlloc) })
	mux.HandleFunc("/bench/stack", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, memory().StackInuse) })
	mux.Handle("/", h)
	return mux
}

func serveAs(srv *httptest.Server) {
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
		return &pacedProvider{events: callEvents(64 << 10)}
	case "text":
		return &pacedProvider{events: textEvents(64 << 10)}
	case "responses":
		return &pacedProvider{events: responsesEvents(64 << 10)}
	case "messages":
		return &pacedProvider{events: messagesEvents(64 << 10)}
	case "small", "large":
		size := 200
		if script == "large" {
			size = 64 << 10
		}
		return &pacedProvider{whole: wholeAnswer(size)}
	case "paced":
		return &pacedProvider{events: textEvents(18 * 100), pace: 10 * time.Millisecond}
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
	return reverseProxyOver(target, &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true})
}

func reverseProxyOver(target string, transport http.RoundTripper) http.Handler {
	base, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	rp := httputil.NewSingleHostReverseProxy(base)
	rp.Transport = transport
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

// chain is a path from the client to the provider.
type chain struct {
	part
	client        *http.Client
	path, request string
	end           string // of a stream
}

func newChain(b *testing.B, url string) chain {
	t := &http.Transport{MaxIdleConnsPerHost: 512}
	b.Cleanup(t.CloseIdleConnections)
	return chain{part{url: url}, &http.Client{Transport: t}, chatPath, benchRequest, chatDone}
}

// chains returns the same provider reached through ReverseProxy and through the gateway.
func chains(b *testing.B, script string) (source part, proxy, gated chain) {
	source = part{url: start(b, "provider", script)}
	return source, newChain(b, start(b, "proxy", source.url)), newChain(b, start(b, "gateway", source.url))
}

// fetch reads one stream to its end and returns its length.
func (c chain) fetch(onRead func([]byte)) (int, error) {
	req, err := http.NewRequest("POST", c.url+c.path, strings.NewReader(c.request))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.client.Do(req)
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

// flood runs streams over a chain, workers at a time, and returns the time, the CPU time of all
// parts, and that of the middle one.
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

func memory() (m runtime.MemStats) {
	for range 4 { // stacks shrink by half
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m
}

// policedGateway returns a gateway with an observer and redacting event policies.
func policedGateway(target string) http.Handler {
	redact, err := events.Redact(events.Redaction{Patterns: []string{`sk-[A-Za-z0-9]{20,}`, `\d{4} \d{4} \d{4} \d{4}`}})
	if err != nil {
		panic(err)
	}
	gw, err := gateway.New(gateway.Options{Gate: newBenchGate(), Settings: gateway.DefaultSettings(), Policies: []events.Policy{redact}, Observer: counting{},
		Upstreams: []gateway.Upstream{{ID: "test", BaseURL: target}}})
	if err != nil {
		panic(err)
	}
	return gw
}

// counting is an observer that stores nothing.
type counting struct{}

func (counting) Begin(ctx context.Context, _ *http.Request, _ *gateway.Observed) (context.Context, gateway.Observation) {
	return ctx, counting{}
}
func (counting) Send(*gateway.Observed, http.Header) {}
func (counting) Next(*gateway.Observed)              {}
func (counting) End(*gateway.Observed)               {}
