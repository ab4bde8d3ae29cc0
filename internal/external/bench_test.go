package external_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/external"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/kinds"
)

// BenchmarkDecide measures a decision without an external policy and with one over a socket: one
// that is written in Go here, and that of STOPGATE_POLICY_SOCKET, which allows every call.
func BenchmarkDecide(b *testing.B) {
	own := &service{t: b}
	own.handle(answering(`{"protocol":1,"id":"ID","version":"v1","decision":"allow","reason":"ok"}`))
	files := map[string]string{"none": "version = 1\n" + tools, "go": own.table(`"gate"`)}
	if socket := os.Getenv("STOPGATE_POLICY_SOCKET"); socket != "" {
		files["other"] = (&service{Socket: socket}).table(`"gate"`)
	}
	for name, text := range files {
		b.Run(name, func(b *testing.B) {
			p, found := policy.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
			if found.HasErrors() {
				b.Fatal(found)
			}
			g, err := gate.New(p, gate.WithExternals(external.New(external.Options{}).Open), gate.WithStore(kinds.Memory()), gate.WithDenyMode(gate.DenyToolResult))
			if err != nil {
				b.Fatal(err)
			}
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				call := declared("rm", `{"path":"/tmp/a"}`)
				call.ID, call.Session = "", ""
				began := time.Now()
				out, err := g.Decide(b.Context(), call)
				times = append(times, time.Since(began))
				if err != nil || !out.Allowed() {
					b.Fatal(fmt.Sprint(out.Verdict, err))
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "us-p50")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "us-p99")
		})
	}
}
