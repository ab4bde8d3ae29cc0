package postgres_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"

	server "github.com/stopgate/stopgate/internal/testkit/postgres"
)

const windowFile = `version = 1
[tools.deploy.policy]
run = "unattended"
[[session]]
type = "limit"
name = "deploys"
tools = ["deploy"]
max_calls = 3
within = "10m"
scope = "session"
`

// Proves I19, H4: a limit in a window holds whatever the clocks of the gates show, and while the clock of
// the database is set forward and back: its time never goes back for a principal.
func TestClocks(t *testing.T) {
	const limit, window = 3, 10 * time.Minute
	srv := server.StartClocked(t, server.Fast)
	location := srv.Database(t)
	program, mistakes := policy.Compile([]policy.Source{{Name: "p.toml", Text: []byte(windowFile), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	var gates []*gate.Gate
	for _, wrong := range []time.Duration{-3 * time.Hour, 0, 5 * time.Hour} {
		s := open(t, location)
		g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()),
			gate.WithClock(func() time.Time { return time.Now().Add(wrong) }))
		if err != nil {
			t.Fatal(err)
		}
		gates = append(gates, g)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var offset time.Duration
	var allowed atomic.Int64
	for range 40 {
		offset += time.Duration(r.IntN(900)-300) * time.Second
		if err := srv.SetClock(offset); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for i := range 6 {
			group.Go(func() {
				out, err := gates[i%len(gates)].Decide(t.Context(), stopgate.Call{Tool: "deploy", Session: "s", Principal: "p", Args: []byte(`{}`)})
				if err == nil && out.Allowed() {
					allowed.Add(1)
				}
			})
		}
		group.Wait()
	}
	facts, err := open(t, location).Facts(t.Context(), session.Owner{Principal: "p", Session: "s"}, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var times []time.Time
	for i, f := range facts {
		if i > 0 && f.At < facts[i-1].At {
			t.Errorf("fact %d is older than the one before", f.Seq)
		}
		if f.Kind == session.Released {
			times = append(times, time.UnixMilli(f.At))
		}
	}
	for i := limit; i < len(times); i++ {
		if d := times[i].Sub(times[i-limit]); d < window {
			t.Errorf("%d calls within %v: %v", limit+1, d, times[i-limit:i+1])
		}
	}
	if len(times) < 3*limit || int64(len(times)) < allowed.Load() {
		t.Errorf("%d calls were released, %d allowed", len(times), allowed.Load())
	}
	if last := times[len(times)-1]; last.Sub(time.Now().Add(offset)).Abs() > time.Hour {
		t.Errorf("the newest fact is of %v, with the database at %v", last, time.Now().Add(offset))
	}
	t.Logf("%d calls were released while the database's clock went %v", len(times), offset)
}
