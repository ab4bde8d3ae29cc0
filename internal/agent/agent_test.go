package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/arguments"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/testkit/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// create is a script that writes one file with a long content, and then ends with text.
const create = `turn
say I write it.
call fs_create_file
  path string src/a.txt
  content repeat 100 line %d
turn
say Done.
`

// shown returns the parameters of a question as displayed.
func shown(r *chat.Rig, q *agent.Question) []arguments.Parameter {
	for n := 1; n < 20; n++ {
		if c := r.Call(n); c.Proposal == q.View().Proposal {
			return c.Parameters
		}
	}
	return nil
}

// Proves S1, D26-07, D26-16, D26-20, D26-25: the question is shown while the content is being
// written; after a yes the stream continues, and the call runs when it is complete.
func TestEarlyQuestion(t *testing.T) {
	r := chat.New(t, chat.Options{Script: create})
	r.Hold(60) // in the middle of the content
	done := r.Process(t.Context(), "go")
	q := r.Question()
	v := q.View()
	if v.Complete || v.Args != "" || v.Verdict.Mode != stopgate.Ask {
		t.Fatalf("%+v", v)
	}
	r.Until("some content", func() bool { p := shown(r, q); return len(p) == 2 && p[1].Bytes > 0 })
	p := shown(r, q)
	if p[0].JSON != `"src/a.txt"` || p[1].Complete() || p[1].Name != "content" {
		t.Errorf("%+v", p)
	}
	q.Allow(v, p)
	if !r.Questions.Armed(v.Proposal) || r.File("src/a.txt") != "" {
		t.Error("it ran before it was complete")
	}
	r.Go()
	end := <-done
	if end.Err != nil || end.Sum.Ran != 1 || end.Sum.Stopped != 0 || end.Sum.Answers != 2 {
		t.Errorf("%+v", end)
	}
	if got := r.File("src/a.txt"); strings.Count(got, "\n") != 100 {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
	if r.Text() != "I write it.Done." {
		t.Errorf("%q", r.Text())
	}
}

// Proves D26-21, D26-22, D26-24, S7: declining the only call cancels the response; the history
// contains the complete parameters, as one object, and the denial; the agent waits for the person.
func TestDeclineCancelsResponse(t *testing.T) {
	for _, api := range []provider.API{provider.Chat, provider.Responses, provider.Messages} {
		t.Run(string(api), func(t *testing.T) {
			r := chat.New(t, chat.Options{Script: create, API: api})
			r.Hold(60)
			done := r.Process(t.Context(), "go")
			q := r.Question()
			q.Decline(q.View(), "")
			end := <-done // the model is not resumed
			if end.Err != nil || !end.Sum.Waits || end.Sum.Stopped != 1 || end.Sum.Refused != 1 || end.Sum.Answers != 1 {
				t.Fatalf("%+v", end)
			}
			r.Until("the end of the stream", func() bool { return len(r.Reports()) == 1 })
			if report := r.Reports()[0]; !report.Cancelled || report.Generated >= report.Total {
				t.Errorf("%+v", report)
			}
			list := r.Entries()
			reply, result := list[2], list[3]
			if reply.Kind != conversation.Reply || !reply.Cut || reply.Parts[1].Args != `{"path":"src/a.txt"}` {
				t.Errorf("%+v", reply)
			}
			if result.Kind != conversation.Result || !result.Failed || !strings.Contains(result.Text, "was not run") || !strings.Contains(result.Text, "approval_declined") {
				t.Errorf("%+v", result)
			}
			r.Go()
			if end := <-r.Process(t.Context(), "do something else"); end.Err != nil || r.Text() != "I write it.Done." {
				t.Errorf("%+v %q", end, r.Text())
			}
			for _, body := range r.Requests() {
				chat.Legal(t, api, body)
			}
			if r.File("src/a.txt") != "" {
				t.Error("it ran")
			}
		})
	}
}

// Proves D26-21: with a reason the model receives it and continues.
func TestDeclineWithReason(t *testing.T) {
	r := chat.New(t, chat.Options{Script: create})
	r.Hold(60)
	done := r.Process(t.Context(), "go")
	q := r.Question()
	q.Decline(q.View(), "use another directory")
	r.Go()
	end := <-done
	if end.Err != nil || end.Sum.Waits || end.Sum.Answers != 2 {
		t.Errorf("%+v", end)
	}
	if body := r.Requests()[1]; !strings.Contains(body, "use another directory") {
		t.Error(body)
	}
}

// Proves D26-23, D26-32: with another call the stream continues, and that call runs.
func TestDeclineOneOfTwo(t *testing.T) {
	r := chat.New(t, chat.Options{Script: `turn
call fs_create_file
  path string a.txt
  content repeat 30 line %d
call fs_create_file
  path string b.txt
  content repeat 30 line %d
turn
say Done.
`})
	r.Answers(func(q *agent.Question) {
		v := q.View()
		if !v.Complete {
			return
		}
		if strings.Contains(v.Args, "a.txt") {
			q.Decline(v, "not this one")
		} else {
			q.Allow(v, nil)
		}
	})
	end := <-r.Process(t.Context(), "go")
	if end.Err != nil || end.Sum.Ran != 1 || end.Sum.Refused != 1 || end.Sum.Stopped != 0 || end.Sum.Answers != 2 {
		t.Errorf("%+v", end)
	}
	if r.File("a.txt") != "" || r.File("b.txt") == "" {
		t.Error("the wrong one ran")
	}
	for _, report := range r.Reports() {
		if report.Cancelled {
			t.Errorf("%+v", report)
		}
	}
	chat.Legal(t, provider.Chat, r.Requests()[1])
}

// Proves D26-26, S7: a refusal of the policy cancels the response at its byte, and the agent
// continues without the person.
func TestRefusalCancelsResponse(t *testing.T) {
	for _, api := range []provider.API{provider.Chat, provider.Responses, provider.Messages} {
		r := chat.New(t, chat.Options{API: api, Script: `turn
say I need a secret.
call fs_create_file
  path string .env
  content repeat 300 OPTION_%d=on
turn
say Done.
`})
		end := <-r.Process(t.Context(), "go")
		if end.Err != nil || end.Sum.Refused != 1 || end.Sum.Stopped != 1 || end.Sum.Waits || end.Sum.Answers != 2 {
			t.Errorf("%s: %+v", api, end)
		}
		r.Until("the end of the stream", func() bool {
			return slices.ContainsFunc(r.Reports(), func(r replay.Report) bool { return r.Cancelled && r.Generated < 200 })
		})
		if c := r.Call(1); c.State != agent.Refused || c.Verdict.Layer != stopgate.LayerGuard || c.Verdict.DecidedAt != 14 {
			t.Errorf("%s: %+v", api, c)
		}
		chat.Legal(t, api, r.Requests()[1])
		if !strings.Contains(r.Requests()[1], "secrets stay out of reach") {
			t.Errorf("%s: the model does not hear why", api)
		}
	}
}

// Proves H2, X6, K17: a parameter that arrives after an early yes asks again; text that was
// streaming does not.
func TestUnseenParametersAskAgain(t *testing.T) {
	r := chat.New(t, chat.Options{Script: `turn
call fs_create_file
  path string a.txt
  content repeat 60 line %d
  replace json true
turn
say Done.
`})
	r.Hold(40)
	done := r.Process(t.Context(), "go")
	q := r.Question()
	r.Until("the content", func() bool { return len(shown(r, q)) == 2 })
	q.Allow(q.View(), shown(r, q))
	if next, _ := r.Questions.Next(); next != nil {
		t.Fatal("the question is still there")
	}
	r.Go()
	again := r.Question()
	if again != q || strings.Join(q.Fresh(), " ") != "replace" || !q.View().Complete {
		t.Fatalf("%v", q.Fresh())
	}
	if r.File("a.txt") != "" {
		t.Fatal("it ran")
	}
	q.Allow(q.View(), nil)
	if end := <-done; end.Err != nil || end.Sum.Ran != 1 {
		t.Errorf("%+v", end)
	}
}

// Proves H2: a target that was shown incompletely counts as unseen.
func TestPartialTargetIsUnseen(t *testing.T) {
	r := chat.New(t, chat.Options{
		Policy: "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = [{ arg = \"/x\", const = 1, mode = \"unattended\" }, { mode = \"ask\" }]\n",
		Script: "turn\ncall fs_delete_file\n  path string src/a/b/c/d/e/f/g/h/i/j/k/l/m/n.txt\nturn\nsay Done.\n",
	})
	r.Hold(8)
	done := r.Process(t.Context(), "go")
	r.Until("half a path", func() bool { p := r.Call(1).Parameters; return len(p) == 1 && p[0].Bytes > 0 })
	if q, _ := r.Questions.Next(); q != nil {
		q.Allow(q.View(), shown(r, q))
	}
	r.Go()
	var q *agent.Question
	r.Until("the whole question", func() bool { q, _ = r.Questions.Next(); return q != nil && q.View().Complete })
	q.Decline(q.View(), "")
	<-done
}

// Proves H2: AllowRest needs no second yes.
func TestAllowRest(t *testing.T) {
	r := chat.New(t, chat.Options{Script: strings.Replace(create, "  content", "  replace json true\n  content", 1)})
	r.Hold(20)
	done := r.Process(t.Context(), "go")
	q := r.Question()
	q.AllowRest(q.View())
	r.Go()
	if end := <-done; end.Err != nil || end.Sum.Ran != 1 {
		t.Errorf("%+v", end)
	}
}

// Proves H3, X12: edited arguments are judged by every layer; allowed ones run, and the model
// receives them.
func TestEdit(t *testing.T) {
	for _, test := range []struct{ name, args, file, code string }{
		{"into a secret", `{"path":".env","content":"x"}`, "", "rule_matched"},
		{"into no object", `[]`, "", "non_object_root"},
		{"into another file", `{"path":"b.txt","content":"x"}`, "b.txt", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := chat.New(t, chat.Options{Script: create})
			r.Answers(func(q *agent.Question) {
				if v := q.View(); v.Complete {
					q.Edit(v, test.args)
				}
			})
			end := <-r.Process(t.Context(), "go")
			if end.Err != nil {
				t.Fatal(end.Err)
			}
			c := r.Call(1)
			if test.code != "" {
				if end.Sum.Refused != 1 || string(c.Verdict.Code) != test.code || r.File(".env") != "" || r.File("src/a.txt") != "" {
					t.Errorf("%+v %+v", end, c.Verdict)
				}
				return
			}
			if r.File(test.file) != "x" || !c.Edited || c.Approval.By != "anna" || r.File("src/a.txt") != "" {
				t.Errorf("%+v", c)
			}
			body := r.Requests()[1]
			if !strings.Contains(body, "A person changed the arguments") || !strings.Contains(body, `b.txt`) || strings.Contains(body, "line 7") {
				t.Error(body)
			}
			chat.Legal(t, provider.Chat, body)
		})
	}
}

// Proves K32, D25-43: a rule on results asks the person before the model receives them.
func TestResultQuestion(t *testing.T) {
	for _, test := range []struct {
		name, want string
		answer     func(q *agent.Question)
	}{
		{"shown", "top secret", func(q *agent.Question) { q.Allow(q.View(), nil) }},
		{"kept", "result_withheld", func(q *agent.Question) { q.Decline(q.View(), "") }},
		{"edited", "nothing to see", func(q *agent.Question) { q.Edit(q.View(), "nothing to see") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := chat.New(t, chat.Options{
				Files:  map[string]string{"secrets/a": "top secret"},
				Policy: "version = 1\n[tools.fs_read_file.policy]\nrun = \"unattended\"\nresult = [{ arg = \"/path\", prefix = \"secrets\", mode = \"ask\" }, { mode = \"unattended\" }]\n",
				Script: "turn\ncall fs_read_file\n  path string secrets/a\nturn\nsay Done.\n",
			})
			r.Answers(func(q *agent.Question) {
				if v := q.View(); !v.OfResult || v.Result != "top secret" {
					t.Errorf("%+v", v)
				}
				test.answer(q)
			})
			if end := <-r.Process(t.Context(), "go"); end.Err != nil || end.Sum.Ran != 1 {
				t.Errorf("%+v", end)
			}
			body := r.Requests()[1]
			if !strings.Contains(body, test.want) || test.name != "shown" && strings.Contains(body, "top secret") {
				t.Error(body)
			}
		})
	}
}

// structured is a runner with raw results.
type structured struct {
	agent.Runner
	raw string
}

func (s structured) Run(ctx context.Context, task agent.Task) agent.Result {
	r := s.Runner.Run(ctx, task)
	r.Raw = []byte(s.raw)
	return r
}

// Proves S24: success is evaluated on the server's result, not on the text for the model.
func TestSuccessOfRawResults(t *testing.T) {
	for raw, ran := range map[string]int{`{"structuredContent":{"code":0}}`: 2, `{"structuredContent":{"code":1}}`: 1} {
		r := chat.New(t, chat.Options{
			Files: map[string]string{"a": "for the model"},
			Policy: `version = 1
[tools.fs_read_file]
success = { exit_code = "/structuredContent/code" }
policy.run = "unattended"
[tools.fs_delete_file]
policy.run = "unattended"
[[session]]
type = "require"
before = "fs_delete_file"
requires = "fs_read_file"
`,
			Script: "turn\ncall fs_read_file\n  path string a\nturn\ncall fs_delete_file\n  path string a\nturn\nsay Done.\n",
		})
		r.Agent.Tools = structured{r.Agent.Tools, raw}
		if end := <-r.Process(t.Context(), "go"); end.Err != nil || end.Sum.Ran != ran {
			t.Errorf("%s: %+v", raw, end)
		}
		if body := r.Requests()[1]; !strings.Contains(body, "for the model") || strings.Contains(body, "structuredContent") {
			t.Error(body)
		}
	}
}

// Proves Q25, S34: a grant answers the next similar call without a question.
func TestGrant(t *testing.T) {
	call := "turn\ncall fs_delete_file\n  path string src/%\n"
	r := chat.New(t, chat.Options{
		Files:  map[string]string{"src/a": "a", "src/b": "b"},
		Script: strings.ReplaceAll(call, "%", "a") + strings.ReplaceAll(call, "%", "b") + "turn\nsay Done.\n",
	})
	asked := 0
	r.Answers(func(q *agent.Question) {
		v := q.View()
		if !v.Complete {
			return
		}
		asked++
		g, err := q.Offer(v, nil)
		if err != nil {
			t.Error(err)
		}
		for i := range g.Values {
			g.Values[i].How, g.Values[i].Text = "below", "src"
		}
		if err := q.AllowAlways(t.Context(), v, g); err != nil {
			t.Error(err)
		}
	})
	end := <-r.Process(t.Context(), "go")
	if end.Err != nil || end.Sum.Ran != 2 || asked != 1 {
		t.Errorf("%+v, asked %d times", end, asked)
	}
	if c := r.Call(2); c.Approval == nil || !strings.HasPrefix(c.Approval.ID, "grant:") {
		t.Errorf("%+v", c.Approval)
	}
}

// Proves D26-24: an interruption ends the stream or the running call; the history stays valid and
// no other call starts.
func TestInterrupt(t *testing.T) {
	t.Run("stream", func(t *testing.T) {
		r := chat.New(t, chat.Options{Script: create})
		r.Hold(60)
		ctx, cancel := context.WithCancelCause(t.Context())
		done := r.Process(ctx, "go")
		r.Question()
		cancel(agent.Interrupted())
		if end := <-done; !errors.Is(end.Err, agent.Interrupted()) {
			t.Errorf("%+v", end)
		}
		r.Go()
		if end := <-r.Process(t.Context(), "go on"); end.Err != nil {
			t.Errorf("%+v", end)
		}
		for _, body := range r.Requests() {
			chat.Legal(t, provider.Chat, body)
		}
		if c := r.Call(1); strings.Contains(c.Verdict.Public+c.Result, "client went away") || !strings.Contains(c.Result, "before") {
			t.Errorf("the person and the model are told %q, %q", c.Verdict.Public, c.Result)
		}
		if r.File("src/a.txt") != "" {
			t.Error("it ran")
		}
	})
	t.Run("call", func(t *testing.T) {
		r := chat.New(t, chat.Options{
			Policy: "version = 1\n[tools.run_command.policy]\nrun = \"unattended\"\n",
			Script: "turn\ncall run_command\n  command string echo begun; sleep 1000\ncall run_command\n  command string touch second\nturn\nsay Done.\n",
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		done := r.Process(ctx, "go")
		r.Until("the command", func() bool { return r.Call(1).State == agent.Running })
		cancel(agent.Interrupted())
		if end := <-done; !errors.Is(end.Err, agent.Interrupted()) || !end.Sum.Waits || end.Sum.Ran != 1 || end.Sum.Refused != 1 {
			t.Errorf("%+v", end)
		}
		if c := r.Call(1); c.State != agent.Failed || !strings.Contains(c.Result, "interrupted it") {
			t.Errorf("%+v", c)
		}
		<-r.Process(t.Context(), "go on")
		chat.Legal(t, provider.Chat, r.Requests()[1])
		if r.File("second") != "" {
			t.Error("the second call began")
		}
	})
}

// Proves S28: at the limit of refusals in a row the turn ends.
func TestDenialLimitEndsTheTurn(t *testing.T) {
	turn := "turn\ncall fs_delete_file\n  path string .env\n"
	r := chat.New(t, chat.Options{Script: strings.Repeat(turn, 20) + "turn\nsay Done.\n"})
	end := <-r.Process(t.Context(), "go")
	if end.Err != nil || !end.Sum.Waits || end.Sum.Answers > 8 {
		t.Errorf("%+v", end)
	}
}

// Proves Q21: without an approver an ask is denied with its own reason, and unknown tools are
// denied.
func TestWithoutApprover(t *testing.T) {
	r := chat.New(t, chat.Options{Alone: true, Script: create + "turn\ncall rm\n  x string y\n"})
	end := <-r.Process(t.Context(), "go")
	if end.Err != nil || end.Sum.Refused != 1 || r.Call(1).Verdict.Code != stopgate.CodeNoApprover {
		t.Errorf("%+v %+v", end, r.Call(1).Verdict)
	}
}
