package gateway_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// notifier makes a queue reachable.
type notifier struct{}

func (notifier) Name() string                                { return "notifier" }
func (notifier) Notify(context.Context, approve.Entry) error { return nil }

const asking = "version = 1\n[tools.a.policy]\nrun = \"ask\"\n"

// queued returns a gateway whose questions are in a queue.
func queued(t *testing.T, provider http.HandlerFunc) (*http.Client, *log, *approve.Queue) {
	t.Helper()
	queue, err := approve.New(new(mem.Approvals), approve.Options{Notify: []approve.Notifier{notifier{}}})
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	c, _ := inProcess(t, asking, provider, func(o *gateway.Options) { o.Gate = newGate(t, asking, l, gate.WithApprover(queue)) })
	return c, l, queue
}

// later answers the open question after some time.
func later(t *testing.T, queue *approve.Queue, wait time.Duration, kind approve.Kind) {
	t.Helper()
	time.AfterFunc(wait, func() {
		list, err := queue.List(t.Context(), approve.Filter{State: approve.Waiting})
		if err != nil || len(list) != 1 {
			t.Errorf("%d questions, %v", len(list), err)
			return
		}
		if _, err := queue.Answer(t.Context(), list[0].ID, approve.Reply{Kind: kind, By: "anna"}); err != nil {
			t.Error(err)
		}
	})
}

// Proves S48, W20, W21: a streamed response is held for minutes while a question can be answered,
// and its client receives something every ten seconds, in both dialects.
func TestHeldForPeople(t *testing.T) {
	for _, test := range []struct {
		name, path, request, body, sign string
	}{
		{"chat", chatPath, chatRequest(true), chatStream("tool_calls", chatCall(0, "call_1", "a", `{"path":"src/a"}`)), ": stopgate"},
		{"anthropic", anthropicPath, anthropicRequest(true),
			anthropicStart + anthropicCall(0, "toolu_1", "a", `{"path":"src/a"}`) + anthropicEnd("tool_use"), "event: ping"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, l, queue := queued(t, paused(test.body))
				later(t, queue, 10*time.Minute, approve.Yes)
				got, err := lines(t, c, test.path, test.request)
				if err != nil {
					t.Fatal(err)
				}
				text, last, signs := "", time.Duration(0), 0
				for _, line := range got {
					if gap := line.at - last; gap > 10*time.Second+time.Millisecond {
						t.Errorf("nothing for %v before %q", gap, line.text)
					}
					if last = line.at; line.text == test.sign {
						signs++
					}
					text += line.text + "\n"
				}
				mustContain(t, text, "_1", "src")
				if last < 10*time.Minute || last > 10*time.Minute+time.Second || signs < 5 {
					t.Errorf("ends after %v with %d signs of life", last, signs)
				}
				if rows := l.wait(t, 1); rows[0] != "a allowed rule_matched" {
					t.Error(rows)
				}
			})
		})
	}
}

// Proves S5, S48, D26-07: an unstreamed response waits 50 seconds; then the call is denied with the
// id of its question, and the same call is released after a yes.
func TestUnaryHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l, queue := queued(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, chatWhole("tool_calls", [3]string{"call_1", "a", `{"path":"src/a"}`}))
		})
		ask := func() (string, time.Duration) {
			t.Helper()
			start := time.Now()
			r, err := http.NewRequest("POST", "http://localhost"+chatPath, strings.NewReader(chatRequest(false)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Stopgate-Session", "s")
			res, err := c.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			return string(text), time.Since(start)
		}
		text, took := ask()
		list, err := queue.List(t.Context(), approve.Filter{State: approve.Waiting})
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		mustContain(t, text, "approval_pending", list[0].ID)
		mustLack(t, text, "call_1")
		if took < 49*time.Second || took > 50*time.Second {
			t.Errorf("it took %v", took)
		}
		later(t, queue, 0, approve.Yes)
		time.Sleep(time.Second)
		if text, took = ask(); !strings.Contains(text, "call_1") || took > time.Second {
			t.Errorf("after the answer: %v, %s", took, text)
		}
		if rows := l.wait(t, 2); rows[0] != "a denied approval_pending" || rows[1] != "a allowed rule_matched" {
			t.Error(rows)
		}
	})
}
