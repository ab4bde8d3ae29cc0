package service

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config/place"
)

// Proves FM13, C14: a gate that starts under a clock far ahead of its last record prunes as if
// a week had passed since, also where it is used seldom; under one that went on as clocks do
// it prunes at once.
func TestPruningBehindALeap(t *testing.T) {
	const old = 100 * 24 * time.Hour
	for name, newest := range map[string]time.Duration{"it leapt": old, "it went on": time.Hour, "the gate was not used": 10*24*time.Hour - 3*time.Hour} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			st, err := Open(ctx, place.Settings{Store: filepath.Join(t.TempDir(), "s.db"), RowsDays: 90})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			for _, ago := range []time.Duration{old, newest} {
				row := stopgate.Record{Version: stopgate.RecordVersion, Kind: stopgate.RecordEvent, Event: stopgate.AuditReload, Time: time.Now().Add(-ago)}
				if err := st.Records.Record(ctx, &row); err != nil {
					t.Fatal(err)
				}
			}
			last, err := st.newest(ctx)
			if err != nil || time.Since(last) < newest || time.Since(last) > newest+time.Hour {
				t.Fatal(last, err)
			}
			said := new(heard)
			over := make(chan struct{})
			go func() {
				defer close(over)
				st.tidy(ctx, slog.New(slog.NewTextHandler(said, nil)), last)
			}()
			told := map[string]string{"it leapt": "is pruned", "it went on": "rows=1", "the gate was not used": "rows=1"}[name] // that it says
			for !strings.Contains(said.String(), told) {
				time.Sleep(time.Millisecond)
			}
			cancel()
			<-over
			if leapt := strings.Contains(said.String(), "the clock is far ahead"); leapt == (name == "it went on") {
				t.Error(said)
			}
			// Behind what is pruned a checkpoint says so.
			if after, err := st.newest(t.Context()); err != nil || (time.Since(after) < time.Hour) == (name == "it leapt") {
				t.Errorf("the newest row is of %v, %v", after, err)
			}
		})
	}
}

// heard is a buffer that is read while it is written.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}
