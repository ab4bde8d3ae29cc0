package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// Proves H4, FM2: a question asked at one gate is answered at another, once, and the call that waits
// leaves its gate then; a gate that dies leaves its question to the others.
func TestQuestionsOfFleets(t *testing.T) {
	f := startFleet(t, 3)
	question := func(session string) string {
		t.Helper()
		for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			_, text, err := f.send(f.gates[1], "GET", "/v1/approvals?state=waiting", fleetLead, "")
			if err != nil {
				t.Fatal(err)
			}
			var list struct {
				Approvals []struct{ ID, Session string }
			}
			if err := json.Unmarshal(text, &list); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			for _, a := range list.Approvals {
				if a.Session == session {
					return a.ID
				}
			}
		}
		t.Fatalf("no question of %s at another gate", session)
		return ""
	}

	// A person is present, at the second gate.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch, err := http.NewRequestWithContext(ctx, "GET", *f.gates[1].api.Load()+"/v1/approvals/watch", nil)
	if err != nil {
		t.Fatal(err)
	}
	watch.Header.Set("Authorization", "Bearer "+fleetLead)
	present, err := http.DefaultClient.Do(watch)
	if err != nil {
		t.Fatal(err)
	}
	defer present.Body.Close()

	var waits []time.Duration
	for i := range 20 {
		session := fmt.Sprint("q-", i)
		done := make(chan time.Time, 1)
		var a answer
		go func() {
			var err error
			if a, err = f.callAt(f.gates[0], "asked", session, `{"n":1}`, "Prefer", "wait=15"); err != nil {
				t.Error(err)
			}
			done <- time.Now()
		}()
		id := question(session)
		var yes int
		var mu sync.Mutex
		var group sync.WaitGroup
		var answered time.Time
		for _, g := range f.gates {
			group.Go(func() {
				status, _, err := f.send(g, "POST", "/v1/approvals/"+id, fleetLead, `{"answer":"approve"}`)
				mu.Lock()
				defer mu.Unlock()
				if err == nil && status == http.StatusOK {
					if yes++; yes == 1 {
						answered = time.Now()
					}
				}
			})
		}
		group.Wait()
		if at := <-done; a.Status != "allowed" {
			t.Fatalf("%s: %+v", session, a)
		} else {
			waits = append(waits, at.Sub(answered))
		}
		if yes != 1 {
			t.Errorf("%s: answered %d times", session, yes)
		}
	}
	slices.Sort(waits)
	t.Logf("from the answer at one gate to the release at another: median %v, longest %v", waits[len(waits)/2], waits[len(waits)-1])

	// The person leaves. The gate that asked dies: the answer is used by the same call at another gate, once.
	cancel()
	time.Sleep(time.Second)
	a, err := f.callAt(f.gates[2], "asked", "orphan", `{"n":2}`)
	if err != nil || a.Status == "allowed" {
		t.Fatalf("%+v, %v", a, err)
	}
	id := question("orphan")
	f.gates[2].process.end()
	if status, text, err := f.send(f.gates[0], "POST", "/v1/approvals/"+id, fleetLead, `{"answer":"approve"}`); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s %v", status, text, err)
	}
	allowed := 0
	for i := range 4 {
		if a, err := f.callAt(f.gates[i%2], "asked", "orphan", `{"n":2}`); err != nil {
			t.Error(err)
		} else if a.Status == "allowed" {
			allowed++
		}
	}
	if allowed != 1 {
		t.Errorf("an approval released %d calls", allowed)
	}
	f.verify()
}

// Proves S59: an order given at one gate is in force at all of them when it has been given.
func TestLockdownOfFleets(t *testing.T) {
	f := startFleet(t, 3)
	order := func(g *fleetGate, method, body string) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			status, text, err := f.send(g, method, "/v1/lockdown", fleetLead, body)
			if err == nil && status == http.StatusOK {
				return
			}
			// A database that is too slow refuses the order, which is then given again.
			if err != nil || status != http.StatusServiceUnavailable || time.Since(began) > 20*time.Second {
				t.Fatalf("%s: %d %s %v", method, status, text, err)
			}
		}
	}
	for i := range 3 {
		order(f.gates[i], "PUT", `{"reason":"look"}`)
		began := time.Now()
		for _, g := range f.gates { // at once: releases look at the order
			if a, err := f.callAt(g, "free", "s", "{}"); err != nil || a.Status != "denied" {
				t.Errorf("%s after the order: %+v, %v", g.name, a, err)
			}
		}
		order(f.gates[i], "DELETE", "")
		for _, g := range f.gates {
			for {
				a, err := f.callAt(g, "free", "s", "{}")
				if err == nil && a.Status == "allowed" {
					break
				}
				if time.Since(began) > 20*time.Second {
					t.Fatalf("%s is still locked: %+v, %v", g.name, a, err)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
}
