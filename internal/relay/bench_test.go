package relay_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/relay"
	"github.com/stopgate/stopgate/internal/store/mem"
)

const benchCall = `{"tool":"t","args":{"city":"Bern"},"session":"s"}`

// api returns the decision API of a gate in memory.
func api(b *testing.B) *decide.Server {
	b.Helper()
	text := "version = 1\n[tools.t.policy]\nrun = \"unattended\"\n"
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte(text)}}, policy.Options{})
	if program == nil {
		b.Fatal(mistakes)
	}
	g, err := gate.New(program, gate.WithStore(mem.New()))
	if err != nil {
		b.Fatal(err)
	}
	s, err := decide.New(decide.Options{Gate: g})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// report reports the median and the 99th percentile of durations.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkGate is the gate's own time: the handler of the decision API, without a connection.
func BenchmarkGate(b *testing.B) {
	h := api(b).Handler(true)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/calls", strings.NewReader(benchCall)))
		took = append(took, time.Since(began))
	}
	report(b, took)
}

// BenchmarkRelay is the time of a call through the relay and a Unix socket, one at a time and a thousand
// at once. There the time is that of all of them, for one.
func BenchmarkRelay(b *testing.B) {
	s := api(b)
	path := filepath.Join(b.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	go s.ServeLocal(ln)
	defer s.Close(context.Background())
	stdin, write, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	read, stdout, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	go relay.Serve(b.Context(), stdin, stdout, relay.Options{Hello: []byte("{}"), Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}})
	defer write.Close()
	lines := bufio.NewScanner(read)
	lines.Scan()
	id := 0
	send := func() {
		id++
		fmt.Fprintf(write, `{"id":%d,"method":"POST","path":"/v1/calls","body":%q}`+"\n", id, benchCall)
	}
	receive := func() {
		if !lines.Scan() || !strings.Contains(lines.Text(), `\"status\":\"allowed\"`) {
			b.Fatalf("%s", lines.Text())
		}
	}
	b.Run("one", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			send()
			receive()
			took = append(took, time.Since(began))
		}
		report(b, took)
	})
	b.Run("thousand", func(b *testing.B) {
		const n = 1000
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			go func() {
				for range n {
					send()
				}
			}()
			for range n {
				receive()
			}
			took = append(took, time.Since(began)/n)
		}
		report(b, took)
	})
}
