package approve_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/store/mem"
)

func inGroup(t *testing.T, names ...string) stopgate.Groups {
	t.Helper()
	groups, err := stopgate.GroupsOf(names...)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// question asks about a call of ann's under a requirement and returns its entry.
func (d *fixture) question(path string) (approve.Entry, <-chan stopgate.Outcome) {
	d.t.Helper()
	done := make(chan stopgate.Outcome, 1)
	go func() {
		out, _ := d.gate.Decide(d.t.Context(), stopgate.Call{
			Tool: "write", Session: "s", Principal: "ann", Surface: stopgate.SurfaceGateway, Args: []byte(`{"path":"` + path + `"}`),
		})
		done <- out
	}()
	synctest.Wait()
	list, err := d.queue.List(d.t.Context(), approve.Filter{State: approve.Waiting})
	if err != nil || len(list) != 1 {
		d.t.Fatal(list, err)
	}
	return list[0], done
}

func requiring(r approve.Requirement) approve.Options {
	o := quiet
	o.Require = func(*stopgate.Call) approve.Requirement { return r }
	return o
}

var leads = []approve.People{{Group: []string{"lead*"}}, {Principal: []string{"root"}}}

// Proves H23: only the persons that the policy names answer, and nobody approves a call of his own, on
// any channel: the requirement is stored with the question.
func TestWhoMayAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		reply approve.Reply
		want  error
	}{
		"a lead":                    {approve.Reply{Kind: approve.Yes, By: "bob", Principal: "bob", Groups: inGroup(t, "people", "leads")}, nil},
		"a named principal":         {approve.Reply{Kind: approve.Yes, By: "root", Principal: "root"}, nil},
		"a person":                  {approve.Reply{Kind: approve.Yes, By: "bob", Principal: "bob", Groups: inGroup(t, "people")}, approve.ErrNotAllowed},
		"groups that are not known": {approve.Reply{Kind: approve.Yes, By: "bob", Principal: "bob"}, approve.ErrNotAllowed},
		"a terminal":                {approve.Reply{Kind: approve.Yes, By: "bob"}, approve.ErrNotAllowed},
		"a no of a person":          {approve.Reply{By: "bob", Principal: "bob"}, approve.ErrNotAllowed},
		"a no of a lead":            {approve.Reply{By: "bob", Principal: "bob", Groups: inGroup(t, "leads")}, nil},
		"the caller, a lead":        {approve.Reply{Kind: approve.Yes, By: "ann", Principal: "ann", Groups: inGroup(t, "leads")}, approve.ErrOwn},
		"the caller edits":          {approve.Reply{Kind: approve.With, By: "ann", Principal: "ann", Groups: inGroup(t, "leads"), Args: []byte(`{"path":"docs/b"}`)}, approve.ErrOwn},
		"the caller declines":       {approve.Reply{By: "ann", Principal: "ann"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := new(mem.Approvals)
				d := newFixture(t, store, requiring(approve.Requirement{Who: leads, Others: true}))
				e, done := d.question("docs/a")
				other, err := approve.New(store, approve.Options{}) // another process, which knows no policy
				if err != nil {
					t.Fatal(err)
				}
				_, err = other.Answer(t.Context(), e.ID, c.reply)
				if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
					t.Errorf("%v, want %v", err, c.want)
				}
				if _, _, err := other.Grant(t.Context(), e.ID, c.reply, approve.Scope{}); err == nil {
					t.Error("it is granted, too")
				}
				if c.want != nil {
					if _, err := other.Answer(t.Context(), e.ID, approve.Reply{By: "root", Principal: "root"}); err != nil {
						t.Fatal(err)
					}
				}
				if out := <-done; out.Allowed() != (c.want == nil && c.reply.Kind != approve.No) {
					t.Errorf("%+v", out)
				}
			})
		})
	}
}

// Proves H23: two different persons approve the same arguments; one of them is not enough, and a no
// ends it.
func TestTwoPersons(t *testing.T) {
	by := func(who stopgate.Principal, kind approve.Kind, args string) approve.Reply {
		r := approve.Reply{Kind: kind, By: string(who), Principal: who}
		if args != "" {
			r.Args = []byte(args)
		}
		return r
	}
	const changed, same, other = `{"path":"docs/b"}`, `{ "path" : "docs\/b" }`, `{"path":"docs/c"}`
	for name, c := range map[string]struct {
		replies []approve.Reply
		errs    []error
		allowed bool
		args    string
	}{
		"both":              {[]approve.Reply{by("bob", approve.Yes, ""), by("eve", approve.Yes, "")}, []error{nil, nil}, true, `{"path":"docs/a"}`},
		"one twice":         {[]approve.Reply{by("bob", approve.Yes, ""), by("bob", approve.Yes, ""), by("eve", approve.No, "")}, []error{nil, approve.ErrTwice, nil}, false, ""},
		"a no":              {[]approve.Reply{by("bob", approve.Yes, ""), by("eve", approve.No, "")}, []error{nil, nil}, false, ""},
		"both edit":         {[]approve.Reply{by("bob", approve.With, changed), by("eve", approve.With, same)}, []error{nil, nil}, true, `{"path":"docs/b"}`},
		"they differ":       {[]approve.Reply{by("bob", approve.With, changed), by("eve", approve.With, other), by("eve", approve.Yes, ""), by("eve", approve.No, "")}, []error{nil, approve.ErrDiffers, approve.ErrDiffers, nil}, false, ""},
		"an edit after yes": {[]approve.Reply{by("bob", approve.Yes, ""), by("eve", approve.With, changed), by("eve", approve.Yes, "")}, []error{nil, approve.ErrDiffers, nil}, true, `{"path":"docs/a"}`},
		"the caller":        {[]approve.Reply{by("ann", approve.Yes, ""), by("bob", approve.Yes, ""), by("ann", approve.Yes, ""), by("ann", approve.No, "")}, []error{approve.ErrOwn, nil, approve.ErrOwn, nil}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, new(mem.Approvals), requiring(approve.Requirement{Approvals: 2, Others: true}))
				e, done := d.question("docs/a")
				for i, r := range c.replies {
					got, err := d.queue.Answer(t.Context(), e.ID, r)
					if !errors.Is(err, c.errs[i]) || (err == nil) != (c.errs[i] == nil) {
						t.Errorf("answer %d: %v, want %v", i, err, c.errs[i])
					}
					if i == 0 && err == nil && (got.State != approve.Waiting || got.Wanting() != 1) {
						t.Errorf("after the first approval: %s, %d more", got.State, got.Wanting())
					}
					synctest.Wait()
					select {
					case out := <-done:
						if i < len(c.replies)-1 {
							t.Errorf("released after answer %d", i)
						}
						done2 := make(chan stopgate.Outcome, 1)
						done2 <- out
						done = done2
					default:
					}
				}
				out := <-done
				if out.Allowed() != c.allowed || string(out.Args) != c.args {
					t.Errorf("%s, %s", out.Status, out.Args)
				}
				if c.allowed && out.Approval.By != "bob, eve" {
					t.Errorf("approved by %q", out.Approval.By)
				}
			})
		})
	}
}

// A grant needs as many approvals as its question, all for the same grant.
func TestTwoPersonsGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), requiring(approve.Requirement{Approvals: 2, Others: true}))
		e, done := d.question("docs/a")
		first, g, err := d.queue.Grant(t.Context(), e.ID, approve.Reply{By: "bob", Principal: "bob"}, approve.Scope{})
		if err != nil || g.ID != "" || first.State != approve.Waiting {
			t.Fatal(first.State, g, err)
		}
		if _, _, err := d.queue.Grant(t.Context(), e.ID, approve.Reply{By: "eve", Principal: "eve"}, approve.Scope{AllSessions: true}); !errors.Is(err, approve.ErrNoGrant) {
			t.Errorf("another grant: %v", err)
		}
		_, g, err = d.queue.Grant(t.Context(), e.ID, approve.Reply{By: "eve", Principal: "eve"}, approve.Scope{})
		if err != nil || g.ID == "" || g.By != "bob, eve" || g.Requirement.Approvals != 2 {
			t.Errorf("%+v: %v", g, err)
		}
		if out := <-done; !out.Allowed() {
			t.Error(out)
		}
	})
}

// Of approvals at the same time each person counts once.
func TestTwoPersonsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), requiring(approve.Requirement{Approvals: 2, Others: true}))
		e, done := d.question("docs/a")
		var work sync.WaitGroup
		var accepted atomic.Int32
		for range 20 {
			work.Go(func() {
				if _, err := d.queue.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.Yes, By: "bob", Principal: "bob"}); err == nil {
					accepted.Add(1)
				}
			})
		}
		work.Wait()
		synctest.Wait()
		if len(done) > 0 || accepted.Load() != 1 {
			t.Errorf("%d approvals of one person were accepted, released %d", accepted.Load(), len(done))
		}
		if _, err := d.queue.Answer(t.Context(), e.ID, approve.Reply{By: "eve", Principal: "eve"}); err != nil {
			t.Fatal(err)
		}
		<-done
	})
}

// An approval under an older requirement does not serve under a newer one.
func TestRequirementChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(mem.Approvals)
		before := newFixture(t, store, approve.Options{Defer: true})
		call := stopgate.Call{Tool: "write", Session: "s", Principal: "ann", Surface: stopgate.SurfaceGateway, Args: []byte(`{"path":"docs/a"}`)}
		if out, _ := before.gate.Decide(t.Context(), call); out.Allowed() {
			t.Fatal("allowed")
		}
		list, _ := before.queue.List(t.Context(), approve.Filter{State: approve.Waiting})
		if _, err := before.queue.Answer(t.Context(), list[0].ID, approve.Reply{Kind: approve.Yes, By: "bob", Principal: "bob"}); err != nil {
			t.Fatal(err)
		}
		o := requiring(approve.Requirement{Approvals: 2, Others: true})
		o.Defer, o.Notify = true, nil
		after := newFixture(t, store, o)
		if out, _ := after.gate.Decide(t.Context(), call); out.Allowed() {
			t.Error("one approval is enough")
		}
		if out, _ := before.gate.Decide(t.Context(), call); !out.Allowed() {
			t.Error("the approval does not serve the question that it answered")
		}
	})
}

// Proves H23: a grant under an older requirement does not serve under a newer one.
func TestGrantUnderAnOlderRequirement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(mem.Approvals)
		older := newFixture(t, store, quiet)
		e, done := older.question("docs/a")
		if _, _, err := older.queue.Grant(t.Context(), e.ID, approve.Reply{By: "ann", Principal: "ann"}, approve.Scope{}); err != nil {
			t.Fatal(err)
		}
		<-done
		for _, r := range []approve.Requirement{{Others: true}, {Who: leads, Others: true}, {Approvals: 2, Others: true}} {
			newer := newFixture(t, store, requiring(r))
			e, done := newer.question("docs/a") // asks again
			if _, err := newer.queue.Answer(t.Context(), e.ID, approve.Reply{By: "root", Principal: "root"}); err != nil {
				t.Fatal(err)
			}
			if out := <-done; out.Allowed() {
				t.Errorf("%+v: released by %s", r, out.Approval.By)
			}
		}
		out, err := older.gate.Decide(t.Context(), stopgate.Call{
			Tool: "write", Session: "s", Principal: "ann", Surface: stopgate.SurfaceGateway, Args: []byte(`{"path":"docs/a"}`),
		})
		if err != nil || !out.Allowed() {
			t.Errorf("without a requirement the grant does not serve: %+v, %v", out.Verdict, err)
		}
	})
}
