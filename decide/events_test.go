package decide_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/record/live"
)

// watcher is a program that watches events over a socket.
type watcher struct {
	t     *testing.T
	lines *bufio.Scanner
	close func() error
}

func (d *fixture) watcher(server *httptest.Server, query, last string) *watcher {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 20*time.Second)
	d.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/v1/events"+query, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
		d.t.Fatalf("%s, %s", resp.Status, kind)
	}
	w := &watcher{t: d.t, lines: bufio.NewScanner(resp.Body), close: resp.Body.Close}
	w.next() // the first comment: events are being watched
	return w
}

// next returns the lines of one event, "" at the end of the stream.
func (w *watcher) next() string {
	w.t.Helper()
	var event []string
	for w.lines.Scan() {
		if w.lines.Text() == "" {
			break
		}
		event = append(event, w.lines.Text())
	}
	return strings.Join(event, "\n")
}

// Proves S58: events are streamed to watchers, from now on, from the oldest stored one, or after
// the last one seen; and only the requested types.
func TestEvents(t *testing.T) {
	events := live.New(8)
	d := newFixture(t, func(o *decide.Options) { o.Events = events })
	server := httptest.NewServer(d.local)
	defer server.Close()
	defer d.api.Close(t.Context())
	record := func(tool string) {
		events.Write(live.Event{Type: live.Decision, Record: &stopgate.Record{
			Tool: stopgate.ToolName(tool), Session: "s-" + stopgate.SessionID(tool), Rule: &stopgate.RuleRef{ID: "r-" + stopgate.RuleID(tool)},
		}})
	}
	record("before")
	now := d.watcher(server, "", "")
	all := d.watcher(server, "?after=0", "")
	some := d.watcher(server, "?type=decision&tool=b,c&session=s-c", "")
	ruled := d.watcher(server, "?rule=r-b,r-none", "")
	for _, tool := range []string{"a", "b", "c"} {
		record(tool)
	}
	first := now.next()
	if !strings.HasPrefix(first, "id: "+events.Epoch()+".2\nevent: decision\ndata: {\"seq\":2,") || !strings.Contains(first, `"tool":"a"`) {
		t.Errorf("now: %s", first)
	}
	if e := all.next(); !strings.Contains(e, `"tool":"before"`) {
		t.Errorf("all: %s", e)
	}
	if e := some.next(); !strings.Contains(e, `"tool":"c"`) {
		t.Errorf("some: %s", e)
	}
	if e := ruled.next(); !strings.Contains(e, `"tool":"b"`) {
		t.Errorf("of a rule: %s", e)
	}
	if e := d.watcher(server, "", events.Epoch()+".2").next(); !strings.Contains(e, `"tool":"b"`) {
		t.Errorf("behind the second: %s", e)
	}
	if e := d.watcher(server, "?after=another.99", "").next(); !strings.Contains(e, `"tool":"before"`) {
		t.Errorf("behind an event of a process that ended: %s", e)
	}
	if a := d.do("", "GET", "/v1/events?after=x", ""); a.status != http.StatusBadRequest {
		t.Errorf("a position that is none: %d", a.status)
	}
	if err := d.api.Close(t.Context()); err != nil {
		t.Errorf("closing waits for watchers: %v", err)
	}
}

// Proves S43, FM3: the permission to watch, and the message to a slow watcher.
func TestEventsForWhom(t *testing.T) {
	events := live.New(4)
	d := newFixture(t, func(o *decide.Options) {
		o.Events = events
		o.Tokens = []decide.Token{token("operate", "op", decide.Operate), token("decide", "de", decide.Decide|decide.Observe|decide.Approve)}
	})
	remote := httptest.NewServer(d.remote)
	defer remote.Close()
	defer d.api.Close(t.Context())
	for who, want := range map[string]int{"": http.StatusUnauthorized, "decide": http.StatusForbidden, "operate": http.StatusOK} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		req, err := http.NewRequestWithContext(ctx, "GET", remote.URL+"/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		if who != "" {
			req.Header.Set("Authorization", "Bearer "+who)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want {
			t.Errorf("%q: %s", who, resp.Status)
		}
		resp.Body.Close()
		cancel()
	}
	slow := events.Read(live.Now)
	for range 10 {
		events.Write(live.Event{Type: live.Decision})
	}
	if _, missed, err := slow.Next(t.Context()); missed != 6 || err != nil {
		t.Errorf("missed %d, %v", missed, err)
	}
}

// A revoked token has no access; an invalid list changes nothing.
func TestSetTokens(t *testing.T) {
	d := newFixture(t, func(o *decide.Options) { o.Tokens = []decide.Token{token("old", "old", decide.Operate)} })
	if err := d.api.SetTokens([]decide.Token{token("x", "x", 0)}); err == nil {
		t.Error("a token that may nothing")
	}
	if a := d.do("old", "GET", "/v1/records", ""); a.status != http.StatusOK {
		t.Errorf("before: %d", a.status)
	}
	if err := d.api.SetTokens([]decide.Token{token("new", "new", decide.Operate)}); err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]int{"old": http.StatusUnauthorized, "new": http.StatusOK} {
		if a := d.do(who, "GET", "/v1/records", ""); a.status != want {
			t.Errorf("%s: %d, want %d", who, a.status, want)
		}
	}
}
