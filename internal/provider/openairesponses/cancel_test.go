package openairesponses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/jsonstream"
)

// feed passes up to n events of a text to a stream.
func feed(t *testing.T, st provider.Stream, out []byte, upstream string, n int) ([]byte, []string) {
	t.Helper()
	events := strings.SplitAfter(strings.TrimSuffix(upstream, "\n\n"), "\n\n")
	for _, text := range events[:min(n, len(events))] {
		d := sse.NewDecoder(nil, sse.Limits{})
		d.Feed([]byte(strings.TrimSuffix(text, "\n\n") + "\n\n"))
		var ev sse.Event
		if ok, err := d.Next(&ev); !ok || err != nil {
			t.Fatal(err)
		}
		var err error
		if out, _, err = st.Event(out, &ev); err != nil {
			t.Fatal(err)
		}
	}
	return out, events[min(n, len(events)):]
}

// Proves S7, I9, L6: a response that is cancelled after any event ends as a complete one, with
// every finished item and without a call; later data of the provider reaches no client, and every
// call in it gets its result.
func TestCancelAtEveryEvent(t *testing.T) {
	upstream := everyKind().completed()
	total := strings.Count(upstream, "\n\n")
	cancelled := 0
	for n := 1; n < total; n++ {
		g := codec.NewGate(t)
		g.DenyAll = true
		st := openairesponses.Dialect{}.Stream(request(t), g, provider.Options{})
		out, rest := feed(t, st, nil, upstream, n)
		if !st.CanCancel() {
			continue
		}
		cancelled++
		calls := len(g.Calls)
		st.Cancel()
		st.Cancel()
		out, err := st.Release(out, g.Outcomes(false), nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := read(string(out), true)
		if err != nil || m.end != "response.completed" || len(m.calls()) != 0 || len(m.denied()) != calls || len(m.final) != len(m.items) {
			t.Fatalf("behind event %d: %v\n%s", n, err, out)
		}
		for i, raw := range m.final {
			var item struct{ ID string }
			if json.Unmarshal(raw, &item); item.ID != m.items[i].id {
				t.Fatalf("item %d is %s at the end and %s in the stream", i, item.ID, m.items[i].id)
			}
		}
		if notes := st.Notes(); !notes.UsageIncomplete || !notes.UsageEstimated || st.Pending() != 0 || notes.Response.Tokens.Output < 3 {
			t.Fatalf("notes %+v, %d pending", notes, st.Pending())
		}
		f := st.(provider.BackgroundReader)
		for i, text := range rest {
			d := sse.NewDecoder(nil, sse.Limits{})
			d.Feed([]byte(strings.TrimSuffix(text, "\n\n") + "\n\n"))
			var ev sse.Event
			d.Next(&ev)
			if over := f.ReadOn(&ev); over != (i == len(rest)-1) {
				t.Fatalf("event %d of %d behind the end: over %v", i, len(rest), over)
			}
		}
		id, replaced := f.Replaced()
		if len(replaced) != 6 || id != "resp_1" || len(f.LateCalls()) != 6-calls || st.Notes().UsageEstimated || st.Notes().Response.Tokens.Output != 9 {
			t.Fatalf("behind event %d of %q: %d replaced, %d followed, %+v", n, id, len(replaced), len(f.LateCalls()), st.Notes())
		}
		seen := map[string]bool{}
		for _, r := range replaced {
			if len(r.Output) == 0 || seen[r.Call] {
				t.Fatalf("replaced %+v", r)
			}
			seen[r.Call] = true
			if len(r.Item) > 0 {
				if _, err := jsonstream.Parse(r.Item, jsonstream.Options{ObjectRoot: true}); err != nil {
					t.Fatalf("item %s: %v", r.Item, err)
				}
			}
		}
	}
	if cancelled < 15 {
		t.Errorf("cancelled behind %d events of %d", cancelled, total)
	}
}

// The history contains the complete members of a call that was truncated in its arguments.
func TestTruncatedItem(t *testing.T) {
	g := codec.NewGate(t, "a")
	st := openairesponses.Dialect{}.Stream(request(t), g, provider.Options{})
	s := begin().added(`{"id":"fc_a","type":"function_call","status":"in_progress","call_id":"call_a","name":"a","arguments":""}`)
	s.delta(0, "fc_a", `{"path":"x","content":"`).delta(0, "fc_a", strings.Repeat("y", 10<<10))
	feed(t, st, nil, s.b.String(), 99)
	st.Cancel()
	if _, err := st.Release(nil, []provider.CallOutcome{{Call: 0, Text: "no"}}, nil); err != nil {
		t.Fatal(err)
	}
	_, replaced := st.(provider.CallReplacer).Replaced()
	want := `{"id":"fc_a","type":"function_call","status":"completed","call_id":"call_a","name":"a","arguments":"{\"path\":\"x\"}"}`
	if len(replaced) != 1 || string(replaced[0].Item) != want {
		t.Errorf("replaced %s", replaced[0].Item)
	}
}

// Long items are not stored: such a response is read to its end, like one with an unfinished item.
func TestCannotCancel(t *testing.T) {
	for name, s := range map[string]*script{
		"long": begin().item(message(strings.Repeat("x", 2<<20))),
		"open": begin().added(reasoning),
	} {
		st := openairesponses.Dialect{}.Stream(request(t), codec.NewGate(t, "a"), provider.Options{})
		feed(t, st, nil, s.call("a", `{"path":"x"}`).b.String(), 99)
		if st.Pending() != 1 || st.CanCancel() {
			t.Errorf("%s: it can cancel", name)
		}
		if st.Cancel(); st.Pending() != 1 || st.Notes().UsageIncomplete {
			t.Errorf("%s: cancelled", name)
		}
	}
}

// A stream that the gate's own error ends has none of it.
func TestAbortAfterCancel(t *testing.T) {
	st := openairesponses.Dialect{}.Stream(request(t), codec.NewGate(t, "a"), provider.Options{})
	feed(t, st, nil, begin().call("a", `{"path":"x"}`).b.String(), 99)
	st.Cancel()
	if out := string(st.Abort(nil, stopgate.CodeOverloaded, "")); !strings.Contains(out, "event: error") {
		t.Errorf("%s", out)
	}
	if out, _ := st.Release(nil, nil, nil); len(out) > 0 {
		t.Errorf("%s", out)
	}
}
