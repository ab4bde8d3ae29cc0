package gate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// faultKind is what happens at the call of a port that a test picked.
type faultKind string

const (
	fails    faultKind = "error"
	panics   faultKind = "panic"
	exits    faultKind = "goexit"
	deaf     faultKind = "deaf"    // silence, whatever its context says
	slow     faultKind = "slow"    // silence until its context ends
	invalid  faultKind = "invalid" // an answer that is none
	leaves   faultKind = "leaves"  // the caller's context ends meanwhile
	withdrew faultKind = "cancel"  // the call is given up meanwhile
)

var everyFault = []faultKind{fails, panics, exits, deaf, slow, invalid, leaves, withdrew}

// stage is a gate with every port there is; one call of a port meets a fault. A
// call of the gate uses no port twice, so the port's name is the injection point.
type stage struct {
	gate   *gate.Gate
	store  *ports.Store
	rec    ports.Recorder
	mu     sync.Mutex
	calls  []string // the port calls so far
	at     string
	fault  faultKind
	leave  context.CancelFunc
	cancel func()
}

// meet counts a port call and, if it is the one, does what the fault says. It
// returns whether the port has to give an invalid answer.
func (s *stage) meet(ctx context.Context, port string) (bool, error) {
	s.mu.Lock()
	s.calls = append(s.calls, port)
	s.mu.Unlock()
	if port != s.at || s.count(port) > 1 {
		return false, nil
	}
	switch s.fault {
	case fails:
		return false, errors.New("AKIA-SECRET in an error text")
	case panics:
		panic("AKIA-SECRET in a panic")
	case exits:
		runtime.Goexit()
	case deaf:
		time.Sleep(time.Hour)
	case slow:
		<-ctx.Done()
		return false, ctx.Err()
	case leaves:
		s.leave()
		<-ctx.Done()
		return false, ctx.Err()
	case withdrew:
		s.cancel()
		<-ctx.Done()
		return false, ctx.Err()
	}
	return s.fault == invalid, nil
}

func (s *stage) count(port string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == port {
			n++
		}
	}
	return n
}

func newStage(t testing.TB, at string, fault faultKind) *stage {
	t.Helper()
	s := &stage{at: at, fault: fault}
	s.rec.Fault = func(ctx context.Context, _ int, r *stopgate.Record) error {
		name := "record " + string(r.Kind)
		if r.Event != "" {
			name = "record " + string(r.Event)
		}
		bad, err := s.meet(ctx, name)
		if bad {
			return errors.New("invalid")
		}
		return err
	}
	limits := gate.ProductLimits
	limits.Hold = time.Minute
	g, err := gate.NewScripted(tools(), append(s.sessions(), gate.WithRecorder(&s.rec),
		gate.WithLimits(limits),
		gate.WithToolPolicies(ports.ToolPolicy{As: "go", Answer: func(ctx context.Context, p gate.Proposal) (gate.Decision, error) {
			bad, err := s.meet(ctx, "policy")
			if bad {
				return gate.Decision{Kind: gate.Permit}, nil // no reason (G2-10)
			}
			return gate.Decision{Kind: gate.Permit, Reason: "fine"}, err
		}}),
		gate.WithJudge(ports.Judge(func(ctx context.Context, p gate.Proposal) (gate.Opinion, error) {
			bad, err := s.meet(ctx, "judge")
			if bad {
				return gate.Opinion{Mode: stopgate.Unattended, Probability: math.NaN()}, nil
			}
			return gate.Opinion{Mode: stopgate.Unattended}, err
		}), stopgate.Deny),
		gate.WithApprover(&approver{s}),
	)...)
	if err != nil {
		t.Fatal(err)
	}
	s.gate = g
	return s
}

// sessions are a store that meets faults, and a policy in Go that does.
func (s *stage) sessions() []gate.Option {
	store := &ports.Store{Fault: func(ctx context.Context, op string) error {
		bad, err := s.meet(ctx, "store "+op)
		if bad {
			return errors.New("invalid")
		}
		return err
	}}
	s.store = store
	policy := ports.SessionPolicy{As: "p", Answer: func(session.View, session.Call) session.Decision {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // it has none of its own
		defer cancel()
		bad, err := s.meet(ctx, "session policy")
		if bad {
			return session.Decision{} // no code
		}
		if err != nil {
			panic(err)
		}
		return session.Allow()
	}}
	return []gate.Option{gate.WithStore(store), gate.WithSessionPolicies(ports.Registry(policy))}
}

type approver struct{ *stage }

func (a *approver) Abilities(ctx context.Context, _ *stopgate.Call) gate.Abilities {
	if bad, err := a.meet(ctx, "abilities"); bad || err != nil {
		return gate.Abilities{}
	}
	return gate.Abilities{Reachable: true, CanEdit: true}
}

func (a *approver) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	v, _ := q.Complete(ctx)
	bad, err := a.meet(ctx, "approve")
	if bad {
		return gate.Answer{}, nil
	}
	return v.Approve("ann"), err
}

// run takes one call through the gate and reports how often a tool ran.
func (s *stage) run(t *testing.T, tool stopgate.ToolName) (out stopgate.Outcome, executed int) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	s.leave, s.cancel = leave, leave // until there is something to give up
	p, err := s.gate.Open(ctx, stopgate.Call{Tool: tool, ID: "c", Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	s.cancel = func() { p.Cancel(context.Background()) }
	p.Feed([]byte(`{"secret":"AKIA-SECRET"}`))
	p.Close(stopgate.Ended)
	out, err = p.Resolve(ctx)
	if err != nil && !errors.Is(err, gate.ErrResolved) {
		t.Error(err)
	}
	if out.Allowed() {
		executed++
	}
	return out, executed
}

// codes is the code of every fault at every port.
var codes = map[string]map[faultKind]stopgate.Code{
	"policy": {
		fails: stopgate.CodePolicyError, panics: stopgate.CodePolicyError, exits: stopgate.CodePolicyError,
		deaf: stopgate.CodePolicyTimeout, slow: stopgate.CodePolicyTimeout, invalid: stopgate.CodeInvalidPolicyResult,
	},
	"store": {
		fails: stopgate.CodeStoreUnavailable, panics: stopgate.CodeStoreUnavailable, exits: stopgate.CodeStoreUnavailable,
		deaf: stopgate.CodeStoreUnavailable, slow: stopgate.CodeStoreUnavailable, invalid: stopgate.CodeStoreUnavailable,
	},
	"session": {
		fails: stopgate.CodePolicyError, panics: stopgate.CodePolicyError, exits: stopgate.CodePolicyError,
		deaf: stopgate.CodePolicyTimeout, slow: stopgate.CodePolicyTimeout, invalid: stopgate.CodeInvalidPolicyResult,
	},
	"judge": {
		fails: stopgate.CodeJudgeUnavailable, panics: stopgate.CodeJudgeUnavailable, exits: stopgate.CodeJudgeUnavailable,
		deaf: stopgate.CodeJudgeUnavailable, slow: stopgate.CodeJudgeUnavailable, invalid: stopgate.CodeJudgeUnavailable,
	},
	"abilities": {
		fails: stopgate.CodeNoApprover, panics: stopgate.CodeNoApprover, exits: stopgate.CodeNoApprover,
		deaf: stopgate.CodeNoApprover, slow: stopgate.CodeNoApprover, invalid: stopgate.CodeNoApprover,
	},
	"approve": {
		fails: stopgate.CodeNoApprover, panics: stopgate.CodeNoApprover, exits: stopgate.CodeNoApprover,
		deaf: stopgate.CodeApprovalTimeout, slow: stopgate.CodeApprovalTimeout, invalid: stopgate.CodeInvalidPolicyResult,
	},
	"record": {
		fails: stopgate.CodeAuditUnavailable, panics: stopgate.CodeAuditUnavailable, exits: stopgate.CodeAuditUnavailable,
		deaf: stopgate.CodeAuditUnavailable, slow: stopgate.CodeAuditUnavailable, invalid: stopgate.CodeAuditUnavailable,
	},
}

// Proves I14, I23, FM1, FM2, FM4, FM7, FM8, FM15, H17, G2-11, G2-18, P18: every
// fault at every port call denies with the code of its port, nothing runs, one row
// is written or counted as lost, and no text of the fault reaches a row.
func TestEveryFaultAtEveryPortCall(t *testing.T) {
	for _, tool := range []stopgate.ToolName{"free", "asked"} {
		var whole []string
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, "", "")
			if _, n := s.run(t, tool); n != 1 {
				t.Fatalf("%s does not run without a fault: %v", tool, s.calls)
			}
			whole = s.calls
		})
		t.Logf("%s: %v", tool, whole)
		for _, port := range whole {
			for _, fault := range everyFault {
				t.Run(fmt.Sprintf("%s/%s/%s", tool, port, fault), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { faultAt(t, tool, port, fault) })
				})
			}
		}
	}
}

func faultAt(t *testing.T, tool stopgate.ToolName, port string, fault faultKind) {
	s := newStage(t, port, fault)
	start := time.Now()
	out, executed := s.run(t, tool)
	if took := time.Since(start); took > time.Minute+10*time.Second {
		t.Errorf("took %v", took)
	}
	if s.count(port) == 0 {
		t.Fatalf("the fault was not met: %v", s.calls)
	}
	time.Sleep(2 * time.Hour) // the deaf come back
	synctest.Wait()

	family, _, _ := strings.Cut(port, " ")
	event := family == "record" && port != "record decision"
	if event {
		// A lost event costs no call; the decision follows behind a gap.
		if fault != leaves && fault != withdrew && len(s.rec.Events(stopgate.AuditGap)) != 1 {
			t.Errorf("no gap row: %s", s.rec.Text())
		}
		executed = 0
	}
	if executed != 0 {
		t.Errorf("the tool ran %d times: %+v", executed, out)
	}
	if code, ok := codes[family][fault]; ok && !event && out.Verdict.Code != code {
		t.Errorf("code %s, want %s", out.Verdict.Code, code)
	}
	rows := len(s.rec.Decisions())
	h := s.gate.Health()
	if late := port == "record decision" && fault == deaf; rows+int(h.LostRows) != 1 && !event && !late {
		t.Errorf("%d decision rows and %d lost: %s", rows, h.LostRows, s.rec.Text())
	} else if late {
		// The row came after its call was denied: the log says that it did not leave.
		decide(t, s.gate, "denied", `{}`)
		if said := s.rec.Events(stopgate.AuditReleaseFailed); len(said) != 1 || said[0].ID != out.Proposal {
			t.Errorf("nothing tells that the allow did not leave: %s", s.rec.Text())
		}
	}
	if strings.Contains(s.rec.Text()+fmt.Sprint(out.Verdict), "AKIA") {
		t.Errorf("a secret is in a row: %s", s.rec.Text())
	}
	if out.Allowed() && rows != 1 {
		t.Errorf("allowed with %d decision rows", rows)
	}
	released, withdrawn := 0, 0
	for _, kind := range s.store.Kinds(session.Owner{Session: "s"}) {
		switch kind {
		case session.Released:
			released++
		case session.Withdrawn:
			withdrawn++
		}
	}
	// A release that was written after its deadline stays counted: the strict side.
	if late := port == "store written" && fault != fails && fault != invalid || port == "store update" && fault == deaf; !out.Allowed() && released != withdrawn && !late {
		t.Errorf("%d released, %d withdrawn: %v", released, withdrawn, s.calls)
	}
}

// Proves FM15, I14, I3: a policy that panics at any of its methods denies this call,
// its sibling goes on, and what was published before stays in the trace.
func TestThePolicyPanics(t *testing.T) {
	for _, method := range []string{"Bind", "Feed", "Close", "Trace", "Document", "Args", "ResultMode"} {
		policy := tools()
		policy.Tools["broken"] = gate.Script{Panic: method, Steps: []gate.Step{{At: 0, Verdict: decided(stopgate.Unattended)}}}
		var rec ports.Recorder
		g, err := gate.NewScripted(policy, gate.WithRecorder(&rec))
		if err != nil {
			t.Fatal(err)
		}
		sibling := openCall(t, g, "free")
		sibling.Feed([]byte(`{`))
		p := openCall(t, g, "broken")
		p.Feed([]byte(`{"a":1}`))
		p.Close(stopgate.Ended)
		out, err := p.Resolve(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if method == "ResultMode" || method == "Trace" {
			// The call itself is judged; only its result, or its history, suffers.
			if !out.Allowed() {
				t.Errorf("%s: %v", method, out.Verdict)
			}
		} else {
			want(t, out, stopgate.Denied, stopgate.CodePolicyError)
			if row := rec.Decisions()[0]; !strings.HasPrefix(row.Cause, "panic ") || strings.Contains(row.Cause, "scripted") || row.Layer != stopgate.LayerFailure {
				t.Errorf("%s: row %+v", method, row)
			}
			if trace := p.Trace(); method != "Bind" && (len(trace) != 2 || trace[0].Mode != stopgate.Unattended) {
				t.Errorf("%s: trace %v", method, trace)
			}
		}
		if method == "ResultMode" {
			d, err := g.Observe(ctx, stopgate.Result{Proposal: out.Proposal, Tool: "broken", Session: "s", Data: []byte("data")})
			if err != nil || d.Delivered() {
				t.Errorf("the result was delivered: %+v, %v", d, err)
			}
		}
		sibling.Feed([]byte(`}`))
		sibling.Close(stopgate.Ended)
		if out, _ := sibling.Resolve(ctx); !out.Allowed() {
			t.Errorf("%s: the sibling got %v", method, out.Verdict)
		}
	}
}

// Proves FM15: a row tells which panic it was, by a hash of its stack.
func TestPanicsAreToldApart(t *testing.T) {
	var rec ports.Recorder
	policies := []func(){func() { panic("AKIA") }, func() { var m map[string]int; m["x"] = 1 }}
	for i := range 4 {
		g := newGate(t, gate.WithRecorder(&rec), gate.WithToolPolicies(ports.ToolPolicy{As: "p", Answer: func(context.Context, gate.Proposal) (gate.Decision, error) {
			policies[i%2]()
			return gate.Decision{}, nil
		}}))
		want(t, decide(t, g, "free", `{}`), stopgate.Denied, stopgate.CodePolicyError)
	}
	rows := rec.Decisions()
	if !strings.HasPrefix(rows[0].Cause, "policy p: panic ") || rows[0].Cause != rows[2].Cause || rows[1].Cause != rows[3].Cause || rows[0].Cause == rows[1].Cause {
		t.Errorf("causes %q %q %q %q", rows[0].Cause, rows[1].Cause, rows[2].Cause, rows[3].Cause)
	}
}

// Proves FM14: a port that hangs collects a bounded number of goroutines and is
// then not called any more; when it comes back, so does the gate.
func TestAHungPortIsNotCalledForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		var healed atomic.Bool
		g := newGate(t, gate.WithLimits(gate.ProductLimits), gate.WithToolPolicies(ports.ToolPolicy{As: "hung", Answer: func(context.Context, gate.Proposal) (gate.Decision, error) {
			if calls.Add(1); !healed.Load() {
				time.Sleep(24 * time.Hour)
			}
			return gate.Decision{Kind: gate.NoOpinion}, nil
		}}))
		for range 300 {
			want(t, decide(t, g, "free", `{}`), stopgate.Denied, stopgate.CodePolicyTimeout)
		}
		if calls.Load() != 256 || g.Health().Stuck != 256 {
			t.Errorf("%d calls, health %+v", calls.Load(), g.Health())
		}
		healed.Store(true)
		time.Sleep(48 * time.Hour)
		if out := decide(t, g, "free", `{}`); !out.Allowed() || g.Health().Degraded() {
			t.Errorf("%+v, health %+v", out.Verdict, g.Health())
		}
	})
}
