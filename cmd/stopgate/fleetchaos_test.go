package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/testkit/postgres"
)

// fault is something that happens to a fleet while calls are decided. It ends before it returns.
type fault struct {
	name string
	do   func(f *gateFleet, g *fleetGate, r *rand.Rand) error
}

// pause returns a time for which something is suspended: shorter and longer than the store's
// timeouts.
func pause(r *rand.Rand) time.Duration { return time.Duration(10+r.IntN(800)) * time.Millisecond }

var faults = []fault{
	{"kill a gate", func(f *gateFleet, g *fleetGate, r *rand.Rand) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.process.end()
		return g.start()
	}},
	{"suspend a gate", func(f *gateFleet, g *fleetGate, r *rand.Rand) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.process.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(pause(r))
		return g.process.cmd.Process.Signal(syscall.SIGCONT)
	}},
	{"cut the connections of a gate", func(f *gateFleet, g *fleetGate, r *rand.Rand) error {
		g.proxy.Cut()
		return nil
	}},
	{"part a gate from the database", func(f *gateFleet, g *fleetGate, r *rand.Rand) error {
		g.proxy.Set(postgres.Stall)
		time.Sleep(pause(r))
		g.proxy.Set(postgres.Forward)
		return nil
	}},
	{"lose bytes to or from the database", func(f *gateFleet, g *fleetGate, r *rand.Rand) error {
		at, fate := r.IntN(40), postgres.CutBefore+postgres.Fate(r.IntN(2))
		g.proxy.OnData(func(d postgres.Data) postgres.Fate {
			if d.N == at {
				return fate
			}
			return postgres.Pass
		})
		time.Sleep(pause(r) / 4)
		g.proxy.OnData(nil)
		return nil
	}},
	{"end the sessions of the database", func(f *gateFleet, g *fleetGate, r *rand.Rand) error {
		_ = f.server.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stopgate' AND random() < 0.5")
		return nil // the server may be recovering from another fault
	}},
	{"suspend a process of the database", func(f *gateFleet, g *fleetGate, r *rand.Rand) error {
		pids, err := f.server.Backends()
		if err != nil || len(pids) == 0 {
			return nil // likewise
		}
		pid := pids[r.IntN(len(pids))]
		if syscall.Kill(pid, syscall.SIGSTOP) != nil {
			return nil // it has ended
		}
		time.Sleep(pause(r))
		_ = syscall.Kill(pid, syscall.SIGCONT)
		return nil
	}},
	{"kill a process of the database", func(f *gateFleet, g *fleetGate, r *rand.Rand) error {
		pids, err := f.server.Backends()
		if err != nil || len(pids) == 0 {
			return nil // likewise
		}
		_ = syscall.Kill(pids[r.IntN(len(pids))], syscall.SIGKILL) // the server ends all of them and recovers
		return nil
	}},
	{"restart the database", func(f *gateFleet, g *fleetGate, r *rand.Rand) error {
		f.restarting.Lock()
		defer f.restarting.Unlock()
		if err := f.server.Stop(); err != nil {
			return err
		}
		return f.server.Run()
	}},
}

// fleetRuns is how many runs TestLimitsOfFleets makes: STOPGATE_FLEET_RUNS, or 100 in the long tier.
func fleetRuns(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("STOPGATE_FLEET_RUNS")); err == nil {
		return n
	}
	if os.Getenv("STOPGATE_LONG") != "" {
		return 100
	}
	return 2 * len(faults)
}

// Proves I19, I22, FM2, H4: whatever happens to gates and database, a limit is never exceeded and no
// call is allowed without its row; when it is over, what is left of the limit is still there, and
// every chain of records is whole.
func TestLimitsOfFleets(t *testing.T) {
	f := startFleet(t, 3)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	tools := []string{"one", "three", "eight"}
	var asked, allowedOnes, full int
	began := time.Now()
	for run := range fleetRuns(t) {
		r := rand.New(rand.NewPCG(seed, uint64(run)))
		session, tool := fmt.Sprint("run-", run), tools[r.IntN(len(tools))]
		happened := []fault{faults[run%len(faults)]} // each one, and others at the same time
		for range r.IntN(3) {
			happened = append(happened, faults[r.IntN(len(faults))])
		}
		names := make([]string, len(happened))
		var chaos sync.WaitGroup
		for i, h := range happened {
			names[i] = h.name
			g, own, delay := f.gates[r.IntN(len(f.gates))], rand.New(rand.NewPCG(seed, r.Uint64())), time.Duration(r.IntN(60))*time.Millisecond
			chaos.Go(func() {
				time.Sleep(delay)
				if err := h.do(f, g, own); err != nil {
					t.Errorf("%s: %v", h.name, err)
				}
			})
		}
		allowed := f.burst(tool, session, 32)
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		allowed = append(allowed, f.burst(tool, session, 32)...)
		chaos.Wait()
		asked += 64

		where := fmt.Sprintf("run %d, %s, with %s", run, tool, strings.Join(names, " and "))
		f.heal(where)
		during, _ := f.released(session)
		full += len(during)
		// A place of a call that did not leave its gate is given back, unless the gate died or did not
		// reach the database: then the place is lost until the window ends. The row of such a call may
		// say "allowed"; the row that corrects it can come from the gate's own disk, and later.
		var rows, lost []string
		settled := func() bool { return len(rows) <= fleetLimits[tool] && len(rows)+len(lost) >= fleetLimits[tool] }
		for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if rows, lost = f.released(session); settled() || time.Now().After(until) {
				break
			}
			allowed = append(allowed, f.burst(tool, session, 1)...)
		}
		allowed = append(allowed, f.burst(tool, session, fleetLimits[tool]+2)...)
		rows, lost = f.released(session)
		if len(allowed) > fleetLimits[tool] {
			t.Errorf("%s: clients were allowed %d calls of %d: %v", where, len(allowed), fleetLimits[tool], allowed)
		}
		for _, id := range allowed {
			if !slices.Contains(rows, id) {
				t.Errorf("%s: %s was allowed without a row", where, id)
			}
		}
		if !settled() {
			t.Errorf("%s: %d calls of a limit of %d, %d more did not leave their gate", where, len(rows), fleetLimits[tool], len(lost))
		}
		if allowedOnes += len(allowed); t.Failed() {
			break
		}
		if done := run + 1; done%20 == 0 {
			t.Logf("%d of %d runs after %v: %d calls, %d allowed", done, fleetRuns(t), time.Since(began).Round(time.Second), asked, allowedOnes)
		}
	}
	t.Logf("%d calls in %d runs, %d places taken during the faults, %d calls allowed", asked, fleetRuns(t), full, allowedOnes)
	f.verify()
}

// heal waits until every gate decides again.
func (f *gateFleet) heal(where string) {
	f.t.Helper()
	for _, g := range f.gates {
		for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			a, err := f.callAt(g, "free", "heal", "{}")
			if err == nil && a.Status == "allowed" {
				break
			}
			if time.Now().After(until) {
				f.t.Fatalf("%s: %s does not recover: %+v, %v\n%s", where, g.name, a, err, f.server.Log())
			}
		}
	}
}
