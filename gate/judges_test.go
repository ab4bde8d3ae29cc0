package gate_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// judgedPolicy has a judge of two of its tools.
const judgedPolicy = `
version = 1
[tools.run]
also = ["Bash"]
policy.run = "unattended"
[tools.mail.policy]
run = "ask"
[tools.read.policy]
run = "unattended"
[tools.wipe.policy]
run = "deny"
[judge]
model = "judge-1"
tools = ["run", "mail", "wipe"]
`

// panelOf makes judges of one function.
func panelOf(j ports.Judge) gate.Option {
	return gate.WithJudges(func(*gate.JudgeTable) (gate.Judge, error) { return j, nil })
}

func judgedGate(t testing.TB, text string, opts ...gate.Option) *gate.Gate {
	return fileGate(t, text, append([]gate.Option{gate.WithDenyMode(gate.DenyToolResult)}, opts...)...)
}

// Proves S29, V3-19: the judge of a file reviews the calls that it governs, under every
// name of their tool, and no other call; what it said is in the row and in the outcome.
func TestJudgesOfFiles(t *testing.T) {
	var rec ports.Recorder
	asked := map[stopgate.ToolName]int{}
	g := judgedGate(t, judgedPolicy, gate.WithRecorder(&rec), panelOf(func(_ context.Context, p gate.Proposal) (gate.Opinion, error) {
		asked[p.Call.Tool]++
		o := gate.Opinion{Mode: stopgate.Unattended, Probability: 0.25, Review: stopgate.Review{Model: "judge-1", Prompt: "p", Explanation: "Harmless."}}
		if strings.Contains(p.Args, "rm") {
			o.Mode, o.Probability = stopgate.Deny, 0.75
		}
		return o, nil
	}))
	want(t, decideTool(t, g, "run", `{"a":"ls"}`), stopgate.Allowed, stopgate.CodeRuleMatched)
	out := decideTool(t, g, "Bash", `{"a":"rm"}`)
	want(t, out, stopgate.Denied, stopgate.CodeJudgeDenied)
	want(t, decideTool(t, g, "read", `{"a":"rm"}`), stopgate.Allowed, stopgate.CodeRuleMatched)
	want(t, decideTool(t, g, "wipe", `{"a":"rm"}`), stopgate.Denied, stopgate.CodeRuleMatched)
	if asked["run"] != 1 || asked["Bash"] != 1 || len(asked) != 2 {
		t.Errorf("asked about %v", asked)
	}
	rows := rec.Decisions()
	if r := rows[0].Judge; r == nil || r.Mode != stopgate.Unattended || *r.Probability != 0.25 || r.Explanation != "Harmless." || r.Fault != "" {
		t.Errorf("row %+v", r)
	}
	if r := rows[1].Judge; r == nil || r.Mode != stopgate.Deny || *r.Probability != 0.75 || out.Judge == nil || *out.Judge.Probability != 0.75 {
		t.Errorf("row %+v", r)
	}
	if rows[2].Judge != nil || rows[3].Judge != nil {
		t.Error("rows of calls that were not judged hold an answer")
	}
}

// Proves I14, FM1: a check that nobody can make is not passed; the row says why, and
// what was tried.
func TestJudgesThatFail(t *testing.T) {
	asking := judgedPolicy + "on_error = \"ask\"\n"
	for _, c := range []struct {
		name, text string
		opts       []gate.Option
		status     stopgate.Status
		fault      string
	}{
		{"nobody makes judges", judgedPolicy, nil, stopgate.Denied, "error"},
		{"an error", judgedPolicy, []gate.Option{panelOf(func(context.Context, gate.Proposal) (gate.Opinion, error) {
			return gate.Opinion{}, errors.New("secret words")
		})}, stopgate.Denied, "error"},
		{"an error that says what was tried", judgedPolicy, []gate.Option{panelOf(func(context.Context, gate.Proposal) (gate.Opinion, error) {
			return gate.Opinion{}, &gate.JudgeError{Review: stopgate.Review{Model: "judge-1", Attempts: 2, Fault: "http 503"}, Err: errors.New("secret words")}
		})}, stopgate.Denied, "http 503"},
		{"a panic", judgedPolicy, []gate.Option{panelOf(func(context.Context, gate.Proposal) (gate.Opinion, error) { panic("secret words") })}, stopgate.Denied, "panic"},
		{"no opinion", judgedPolicy, []gate.Option{panelOf(func(context.Context, gate.Proposal) (gate.Opinion, error) {
			return gate.Opinion{Mode: stopgate.Unattended, Probability: 7}, nil
		})}, stopgate.Denied, "invalid answer"},
		{"nobody makes judges, and a person decides", asking, []gate.Option{gate.WithApprover(ports.Approver(ports.Yes))}, stopgate.Allowed, "error"},
		{"nobody makes judges, and nobody is there", asking, nil, stopgate.Denied, "error"},
	} {
		var rec ports.Recorder
		g := judgedGate(t, c.text, append(c.opts, gate.WithRecorder(&rec))...)
		out := decideTool(t, g, "run", `{}`)
		r := rec.Decisions()[0]
		if out.Status != c.status || r.Judge == nil || r.Judge.Fault != c.fault || r.Judge.Probability != nil || strings.Contains(r.Cause, "secret") {
			t.Errorf("%s: %s, row %+v %+v", c.name, out.Status, r.Judge, r)
		}
	}
	broken := gate.WithJudges(func(*gate.JudgeTable) (gate.Judge, error) { return nil, errors.New("no key") })
	if _, err := gate.New(compile(t, judgedPolicy), broken); err == nil {
		t.Error("a gate without the judge that its policy wants")
	}
	if g, err := gate.New(compile(t, filePolicy), broken); err != nil || g.Swap(compile(t, judgedPolicy)) == nil {
		t.Errorf("a swap to a policy whose judge cannot be made: %v", err)
	}
}

// Proves S29: the calls of one turn are judged at the same time, as soon as they are
// closed, and their outcomes are the same as one by one.
func TestSiblingsAreJudgedAtOnce(t *testing.T) {
	const calls = 8
	var here sync.WaitGroup
	here.Add(calls)
	g := judgedGate(t, judgedPolicy, panelOf(func(_ context.Context, p gate.Proposal) (gate.Opinion, error) {
		here.Done()
		here.Wait() // returns when all of them are being judged
		if strings.Contains(p.Args, "3") {
			return gate.Opinion{Mode: stopgate.Deny, Probability: 1}, nil
		}
		return gate.Opinion{Mode: stopgate.Unattended}, nil
	}))
	var list []*gate.Pending
	for i := range calls {
		p := openCall(t, g, "run")
		p.Consult(ctx) // before it is closed nothing is judged
		p.Feed([]byte{'{', '"', 'a', '"', ':', byte('0' + i), '}'})
		p.Close(stopgate.Ended)
		p.Consult(ctx)
		p.Consult(ctx)
		list = append(list, p)
	}
	for i, p := range list {
		out, err := p.Resolve(ctx)
		if err != nil || out.Allowed() != (i != 3) {
			t.Errorf("call %d: %s %v", i, out.Status, err)
		}
	}
}

// Proves S1, S29: an objection ends the call before anybody resolves it, and withdraws
// the prompt.
func TestAnObjectionEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withdrawn := make(chan error, 1)
		g := judgedGate(t, judgedPolicy,
			panelOf(func(context.Context, gate.Proposal) (gate.Opinion, error) {
				time.Sleep(time.Second)
				return gate.Opinion{Mode: stopgate.Deny, Probability: 1}, nil
			}),
			gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
				<-ctx.Done()
				withdrawn <- context.Cause(ctx)
				return gate.Answer{}, ctx.Err()
			})))
		p := openCall(t, g, "mail")
		if err := p.Ask(ctx); err != nil {
			t.Fatal(err)
		}
		p.Feed([]byte(`{}`))
		p.Close(stopgate.Ended)
		p.Consult(ctx)
		<-p.Done()
		if v := p.Verdict(); v.Code != stopgate.CodeJudgeDenied || v.Layer != stopgate.LayerJudge {
			t.Errorf("%+v", v)
		}
		if cause := <-withdrawn; !strings.Contains(cause.Error(), "judge_denied") {
			t.Errorf("cause %v", cause)
		}
		out, err := p.Resolve(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want(t, out, stopgate.Denied, stopgate.CodeJudgeDenied)
	})
}

// A judge that nobody waits for any more is told so, and nothing is left behind.
func TestGivenUpCallsEndTheirJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		g := judgedGate(t, judgedPolicy, panelOf(func(ctx context.Context, _ gate.Proposal) (gate.Opinion, error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return gate.Opinion{Mode: stopgate.Unattended}, nil
		}))
		for _, how := range []string{"cancel", "resolve"} {
			p := openCall(t, g, "run")
			p.Feed([]byte(`{}`))
			p.Close(stopgate.Ended)
			p.Consult(ctx)
			synctest.Wait() // until it is asked
			if how == "cancel" {
				p.Cancel(ctx)
			} else {
				gone, cancel := context.WithCancel(ctx)
				cancel()
				out, _ := p.Resolve(gone)
				want(t, out, stopgate.Denied, stopgate.CodeClientGone)
			}
			<-ended
		}
	})
}

// Proves S31: in observe mode nobody is asked, unless the table says so; then the row
// says what would have been decided, and the call goes.
func TestJudgesInObserveMode(t *testing.T) {
	for _, observe := range []bool{false, true} {
		text := judgedPolicy + "[gate]\nenforcement = \"observe\"\n"
		if observe {
			text = judgedPolicy + "observe = true\n[gate]\nenforcement = \"observe\"\n"
		}
		asked := 0
		var rec ports.Recorder
		g := judgedGate(t, text, gate.WithRecorder(&rec), panelOf(func(context.Context, gate.Proposal) (gate.Opinion, error) {
			asked++
			return gate.Opinion{Mode: stopgate.Deny, Probability: 1}, nil
		}))
		out := decideTool(t, g, "run", `{}`)
		r := rec.Decisions()[0]
		if !out.Allowed() || out.Enforced || (asked == 1) != observe || (r.Judge != nil) != observe || (*r.Mode == stopgate.Deny) != observe {
			t.Errorf("observe %v: asked %d, %+v", observe, asked, r)
		}
	}
}

// Proves S16: a call that waits while another policy comes into force is judged by its
// judge too, unless that one asks the same.
func TestSwapsAndJudges(t *testing.T) {
	for _, c := range []struct {
		name, text string
		asked      int
		status     stopgate.Status
	}{
		{"the same judge", strings.Replace(judgedPolicy, "[tools.read", "[tools.reed", 1), 1, stopgate.Allowed},
		{"another threshold", judgedPolicy + "threshold = 0.9\n", 2, stopgate.Allowed},
		{"one that objects", judgedPolicy + "threshold = 0.1\n", 2, stopgate.Denied},
		{"one that asks", judgedPolicy + "threshold = 0.1\nmode = \"ask\"\n", 2, stopgate.Denied},
		{"none", strings.Split(judgedPolicy, "[judge]")[0], 1, stopgate.Allowed},
	} {
		asked := 0
		var g *gate.Gate
		g = judgedGate(t, judgedPolicy, gate.WithJudges(func(table *gate.JudgeTable) (gate.Judge, error) {
			return ports.Judge(func(context.Context, gate.Proposal) (gate.Opinion, error) {
				if asked++; asked == 1 {
					if err := g.Swap(compile(t, c.text)); err != nil {
						t.Error(err)
					}
				}
				o := gate.Opinion{Mode: stopgate.Unattended, Probability: 0.3}
				if o.Probability >= table.Threshold {
					o.Mode = table.Mode
				}
				return o, nil
			}), nil
		}))
		out := decideTool(t, g, "run", `{}`)
		if asked != c.asked || out.Status != c.status {
			t.Errorf("%s: asked %d times, %s %s", c.name, asked, out.Status, out.Verdict.Code)
		}
	}
}
