package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
)

// Reservation is what a decision under a limit and a prerequisite does to the
// facts: it checks two cells and releases a call that marks them.
func Reservation(id string) (keys []session.Key, decide func(session.State) (gate.Change, error)) {
	limit := session.Key{Space: session.SpaceLimit, Name: "l"}
	fact := session.Fact{
		Kind: session.Released, At: 1, Proposal: stopgate.ProposalID(id), Tool: "deploy", CallID: stopgate.CallID(id),
		ArgsHash: "7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a",
		Marks:    []session.Mark{{Key: limit, Counts: true, Step: 60_000}},
	}
	return fact.Keys(), func(s session.State) (gate.Change, error) {
		s.Cell(limit)
		return gate.Change{Facts: []session.Fact{fact}}, nil
	}
}

// BenchUpdates measures reservations per second of callers that share a session.
func BenchUpdates(b *testing.B, s gate.Store, callers int, row func(id string) *stopgate.Record) {
	var next atomic.Int64
	var running sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for c := range callers {
		o := session.Owner{Principal: "local", Session: stopgate.SessionID(fmt.Sprint("s", c%4))}
		running.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				id := fmt.Sprintf("01JD%022d", n)
				keys, decide := Reservation(id)
				err := s.Update(ctx, o, keys, func(st session.State) (gate.Change, error) {
					change, err := decide(st)
					if row != nil {
						change.Rows = []*stopgate.Record{row(id)}
					}
					return change, err
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}

// Grow gives a session many facts.
func Grow(t testing.TB, s gate.Store, o session.Owner, facts int) {
	const chunk = 500
	key := session.Key{Space: session.SpaceNote, Name: "p"}
	for done := 0; done < facts; done += chunk {
		batch := make([]session.Fact, min(chunk, facts-done))
		for i := range batch {
			k := key
			k.Value = fmt.Sprint((done + i) % 1000)
			batch[i] = session.Fact{Kind: session.Noted, At: int64(done + i), Key: k, Text: "x"}
		}
		Add(t, s, o, batch...)
	}
}
