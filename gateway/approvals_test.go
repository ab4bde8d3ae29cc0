package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/store/mem"
)

const askAll = "version = 1\n[tools.\"*\".policy]\nrun = \"ask\"\n"

// loud is a notifier, so that an approver is present.
type loud struct{ entries chan approve.Entry }

func (loud) Name() string { return "loud" }

func (l loud) Notify(_ context.Context, e approve.Entry) error {
	l.entries <- e
	return nil
}

// asked starts a conversation whose calls need approval, with the queue of their questions.
func asked(t *testing.T, in tongue, change func(*gateway.Options)) (*talk, *approve.Queue, loud) {
	t.Helper()
	l := loud{make(chan approve.Entry, 8)}
	queue, err := approve.New(new(mem.Approvals), approve.Options{Notify: []approve.Notifier{l}, Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return newTalk(t, in, askAll, func(o *gateway.Options) {
		o.Gate = newGate(t, askAll, nil, gate.WithStore(mem.New()), gate.WithApprover(queue))
		change(o)
	}), queue, l
}

// next returns the next question.
func (l loud) next(t *testing.T) approve.Entry {
	t.Helper()
	select {
	case e := <-l.entries:
		return e
	case <-time.After(10 * time.Second):
		t.Fatal("nobody is asked")
		panic("unreachable")
	}
}

// Proves Q23, S5, S35, S48: a client that cannot wait gets the id of a pending approval; the
// identical call of the repeated request uses the approval, once. The session may be guessed.
func TestRepeatTakesApproval(t *testing.T) {
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			// Long enough for a slow machine to find the approval.
			k, queue, l := asked(t, in, func(o *gateway.Options) { o.Settings.Timeouts.Unary = 3 * time.Second })
			k.stream = false
			pay := pastCall{"p1", "pay", `{"to":"bob"}`}
			body := k.converse([]pastCall{pay}, user("pay bob"))
			e := l.next(t)
			mustContain(t, body, "was not run", "approval_pending", e.ID)
			if _, err := queue.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.Yes, By: "ann"}); err != nil {
				t.Fatal(err)
			}
			if k.allows(pastCall{"p2", "pay", `{"to":"eve"}`}, user("pay bob")) {
				t.Error("other arguments take the approval")
			}
			k.expect(true, pastCall{"p3", "pay", ` {"to" : "bob"}`}, user("pay bob"))
			if k.allows(pastCall{"p4", "pay", `{"to":"bob"}`}, user("pay bob")) {
				t.Error("the approval is taken twice")
			}
		})
	}
}

// Proves S35: no grant is possible in a guessed session.
func TestNoGrantForGuess(t *testing.T) {
	k, queue, l := asked(t, tongues()[0], func(o *gateway.Options) { o.Settings.Timeouts.Unary = 20 * time.Millisecond })
	k.stream = false
	k.converse([]pastCall{{"p1", "pay", `{}`}}, user("pay"))
	if _, _, err := queue.Grant(t.Context(), l.next(t).ID, approve.Reply{By: "ann"}, approve.Scope{}); !errors.Is(err, approve.ErrNoGrant) {
		t.Errorf("a grant in a guessed session: %v", err)
	}
	k.header = map[string]string{"X-Stopgate-Session": "s"}
	k.converse([]pastCall{{"p1", "pay", `{}`}}, user("pay"))
	if _, _, err := queue.Grant(t.Context(), l.next(t).ID, approve.Reply{By: "ann"}, approve.Scope{}); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"p2", "p3", "p4"} { // the same question is not asked again
		k.expect(true, pastCall{id, "pay", `{}`}, user("pay"))
	}
	if list, err := queue.List(t.Context(), approve.Filter{State: approve.Waiting}); err != nil || len(list) != 1 { // of the guessed session
		t.Errorf("%d questions wait, %v", len(list), err)
	}
}

// Proves W20, W53, S17, FM7: a held stream gets keepalives in the form of its dialect until the
// question is answered; if the client goes away, the question is withdrawn.
func TestHeldForApproval(t *testing.T) {
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			k, queue, l := asked(t, in, func(o *gateway.Options) {
				o.Settings.Timeouts.KeepaliveFirst, o.Settings.Timeouts.Keepalive = 5*time.Millisecond, 5*time.Millisecond
			})
			go func() {
				e := <-l.entries
				time.Sleep(50 * time.Millisecond) // the client must receive a keepalive meanwhile
				_, _ = queue.Answer(context.Background(), e.ID, approve.Reply{Kind: approve.Yes, By: "ann"})
			}()
			body := k.converse([]pastCall{{"p1", "pay", `{"to":"bob"}`}}, user("pay"))
			keepalive := "\n: "
			if in.name == "gemini" { // one library fails on comments
				keepalive = "\n" + `data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0}]}`
			}
			mustContain(t, body, `"p1"`, keepalive)

			ctx, leave := context.WithCancel(t.Context())
			k.model.will(pastCall{"p2", "pay", `{"to":"eve"}`})
			req, err := http.NewRequestWithContext(ctx, "POST", k.url+k.path, strings.NewReader(mustJSON(k.request(true, k.tools, []historyEntry{user("pay")}))))
			if err != nil {
				t.Fatal(err)
			}
			res, err := k.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			e := l.next(t)
			leave()
			for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
				if now, err := queue.Entry(t.Context(), e.ID); err == nil && now.State == approve.Withdrawn {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the question stays")
				}
			}
			if _, err := queue.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.Yes, By: "ann"}); err == nil {
				t.Error("a late answer is taken")
			}
		})
	}
}
