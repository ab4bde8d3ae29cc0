package chat

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/replay"
)

// tap keeps the requests.
type tap struct {
	r    *Rig
	next http.RoundTripper
}

func (t *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	t.r.mu.Lock()
	t.r.bodies = append(t.r.bodies, string(body))
	t.r.mu.Unlock()
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	return t.next.RoundTrip(req)
}

// Requests are the bodies that the model was sent.
func (r *Rig) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.bodies...)
}

// Reports say how far each answer of the model came.
func (r *Rig) Reports() []replay.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]replay.Report(nil), r.reports...)
}

// Saved is how many bytes the model did not have to write. It waits until every answer
// has ended.
func (r *Rig) Saved() (n int64) {
	r.Until("the end of the answers", func() bool { return len(r.Reports()) == len(r.Requests()) })
	for _, report := range r.Reports() {
		n += report.Total - report.Generated
	}
	return n
}

// watcher keeps what happens.
type watcher struct{ r *Rig }

func (w watcher) lock(f func()) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	f()
}

func (w watcher) Asked() {}

func (w watcher) Answered() {}

func (w watcher) Thinking(string) {}

func (w watcher) Text(piece string) { w.lock(func() { w.r.text.WriteString(piece) }) }

func (w watcher) Notice(string) {}

func (w watcher) Call(c agent.Call) {
	w.lock(func() { w.r.calls[c.Number] = c; w.r.history = append(w.r.history, c) })
}

type both [2]agent.Watcher

func (b both) Asked() { b[0].Asked(); b[1].Asked() }

func (b both) Answered() { b[0].Answered(); b[1].Answered() }

func (b both) Text(piece string) { b[0].Text(piece); b[1].Text(piece) }

func (b both) Thinking(piece string) { b[0].Thinking(piece); b[1].Thinking(piece) }

func (b both) Notice(text string) { b[0].Notice(text); b[1].Notice(text) }

func (b both) Call(c agent.Call) { b[0].Call(c); b[1].Call(c) }

// Recorder keeps audit rows in memory.
type Recorder struct {
	mu   sync.Mutex
	rows []stopgate.Record
}

// Record implements gate.Recorder.
func (*Recorder) Capabilities() gate.Capabilities { return gate.Capabilities{} }

func (r *Recorder) Record(_ context.Context, row *stopgate.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, *row)
	return nil
}

// Rows are the rows so far.
func (r *Recorder) Rows() []stopgate.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]stopgate.Record(nil), r.rows...)
}
