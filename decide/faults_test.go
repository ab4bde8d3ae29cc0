package decide_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/session"
)

var errDisk = errors.New("disk: secret detail")

// brokenQuestions is a store of questions whose methods all fail.
type brokenQuestions struct{ approve.Store }

func (brokenQuestions) AddEntry(context.Context, approve.Entry, func(approve.Entry) bool) (approve.Entry, error) {
	return approve.Entry{}, errDisk
}
func (brokenQuestions) Entry(context.Context, string) (approve.Entry, error) {
	return approve.Entry{}, errDisk
}
func (brokenQuestions) Entries(context.Context, approve.Filter) ([]approve.Entry, error) {
	return nil, errDisk
}
func (brokenQuestions) ChangeEntry(context.Context, string, func(approve.Entry) (approve.Entry, error)) (approve.Entry, error) {
	return approve.Entry{}, errDisk
}
func (brokenQuestions) Grants(context.Context, approve.GrantFilter) ([]approve.Grant, error) {
	return nil, errDisk
}
func (brokenQuestions) ChangeGrant(context.Context, string, func(approve.Grant) (approve.Grant, error)) (approve.Grant, error) {
	return approve.Grant{}, errDisk
}

// brokenSessions is a store of sessions that cannot be read.
type brokenSessions struct{ gate.Store }

func (brokenSessions) Sessions(context.Context, stopgate.Principal, int) ([]session.Info, error) {
	return nil, errDisk
}
func (brokenSessions) Principals(context.Context, stopgate.SessionID, int) ([]stopgate.Principal, error) {
	return nil, errDisk
}
func (brokenSessions) Facts(context.Context, session.Owner, uint64, int) ([]session.Fact, error) {
	return nil, errDisk
}

type brokenRecords struct{}

func (brokenRecords) Rows(context.Context, string, int64, int) ([]stopgate.Record, error) {
	return nil, errDisk
}

type brokenOrders struct{}

func (brokenOrders) Lockdown(context.Context) (gate.Lockdown, error)  { return gate.Lockdown{}, errDisk }
func (brokenOrders) SetLockdown(context.Context, gate.Lockdown) error { return errDisk }

// Proves FM4, I22: if any dependency of the API fails, nothing is allowed or reported as done, and
// the error text stays internal.
func TestFaultsAtEveryPort(t *testing.T) {
	queue, err := approve.New(brokenQuestions{new(mem.Approvals)}, approve.Options{Notify: []approve.Notifier{silent{}}})
	if err != nil {
		t.Fatal(err)
	}
	d := newFixture(t, func(o *decide.Options) {
		o.Queue, o.Sessions, o.Records, o.Lockdowns = queue, brokenSessions{o.Sessions}, brokenRecords{}, brokenOrders{}
	})
	for _, c := range []struct{ who, method, path, body string }{
		{"anna", "GET", "/v1/approvals", ""}, {"anna", "GET", "/v1/approvals/x", ""}, {"anna", "POST", "/v1/approvals/x", `{"answer":"approve"}`},
		{"anna", "POST", "/v1/approvals/x", `{"answer":"deny"}`}, {"anna", "POST", "/v1/approvals/x", `{"answer":"approve","grant":{}}`},
		{"anna", "GET", "/v1/grants", ""}, {"anna", "DELETE", "/v1/grants/x", ""},
		{"op", "GET", "/v1/sessions", ""}, {"op", "GET", "/v1/sessions/s/facts", ""}, {"op", "GET", "/v1/records", ""},
		{"op", "PUT", "/v1/lockdown", `{}`}, {"op", "DELETE", "/v1/lockdown", ""},
	} {
		a := d.do(c.who, c.method, c.path, c.body)
		d.wants(a, 503, "unavailable")
		if strings.Contains(a.text, "secret detail") {
			t.Errorf("%s %s: %s", c.method, c.path, a.text)
		}
	}
	// The gate uses a queue that works; only the API cannot name the question.
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"README"}}`), 202, `"status":"pending"`)

	// A gate whose own queue fails denies calls that ask, and allows others.
	g, err := gate.New(d.program, gate.WithRecorder(d.records), gate.WithApprover(queue), gate.WithStore(mem.New()), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	api, err := decide.New(decide.Options{Gate: g, Queue: queue})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close(t.Context())
	d.local = api.Handler(true)
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","args":{"path":"README"}}`, "Prefer", "wait=20"), 200, `"status":"denied"`)
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"}}`), 200, `"status":"allowed"`)
}

// slowQuestions adds an entry and returns only after the question was looked up again.
type slowQuestions struct {
	approve.Store
	looks chan struct{}
}

func (s slowQuestions) AddEntry(ctx context.Context, e approve.Entry, same func(approve.Entry) bool) (approve.Entry, error) {
	e, err := s.Store.AddEntry(ctx, e, same)
	for range 3 {
		select {
		case <-s.looks:
		case <-ctx.Done():
		}
	}
	return e, err
}

func (s slowQuestions) Entries(ctx context.Context, f approve.Filter) ([]approve.Entry, error) {
	list, err := s.Store.Entries(ctx, f)
	if f.Proposal != "" {
		select {
		case s.looks <- struct{}{}:
		default:
		}
	}
	return list, err
}

// Proves S5, S43: a call without an approver that must be repeated has ended: it is not pending,
// also while its question is being written.
func TestNoApprover(t *testing.T) {
	queue, err := approve.New(slowQuestions{new(mem.Approvals), make(chan struct{})}, approve.Options{Defer: true})
	if err != nil {
		t.Fatal(err)
	}
	d := newFixture(t, func(o *decide.Options) {
		o.Queue = queue
		if o.Gate, err = gate.New(o.Program(), gate.WithApprover(queue), gate.WithDenyMode(gate.DenyToolResult)); err != nil {
			t.Fatal(err)
		}
	})
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"README"},"session":"s"}`), 200, `"code":"approval_pending"`)
}
