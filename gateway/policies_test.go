package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
)

// Policies of the tests: each has the hooks in its name.
type (
	onRequest      func(*events.Exchange, *events.Request) error
	onDelta        func(*events.Exchange, events.Stream, string) error
	onCallComplete func(*events.Exchange, events.Stream, *events.Call) error
)

func (onRequest) Name() string      { return "on request" }
func (onDelta) Name() string        { return "on delta" }
func (onCallComplete) Name() string { return "on call complete" }

func (f onRequest) OnRequest(_ context.Context, x *events.Exchange, r *events.Request) error {
	return f(x, r)
}

func (f onDelta) OnContentDelta(_ context.Context, x *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
	return f(x, s, delta)
}

func (f onCallComplete) OnToolCallComplete(_ context.Context, x *events.Exchange, s events.Stream, b *events.Call) error {
	return f(x, s, b)
}

// with configures a gateway with policies.
func with(policies ...events.Policy) func(*gateway.Options) {
	return func(o *gateway.Options) { o.Policies = policies }
}

// transcript is a policy with all nine hooks that forwards everything and records its calls.
type transcript struct {
	mu   sync.Mutex
	busy atomic.Int32
	seen []string
}

func (*transcript) Name() string { return "transcript" }

// note records the call of a hook; two at once are an error.
func (p *transcript) note(x *events.Exchange, format string, args ...any) {
	if p.busy.Add(1) != 1 {
		p.seen = append(p.seen, "TWO HOOKS AT ONCE")
	}
	defer p.busy.Add(-1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, fmt.Sprintf("%d ", x.Count("hooks"))+fmt.Sprintf(format, args...))
}

func (p *transcript) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

func (p *transcript) OnRequest(_ context.Context, x *events.Exchange, r *events.Request) error {
	p.note(x, "request %t %t", x.ID != "", string(r.Body()) == string(x.Original))
	return nil
}

func (p *transcript) OnStreamStart(_ context.Context, x *events.Exchange, _ events.Stream) error {
	p.note(x, "start")
	return nil
}

func (p *transcript) OnContentDelta(_ context.Context, x *events.Exchange, s events.Stream, b *events.Content, delta string) error {
	p.note(x, "text %d.%d %s (%s)", b.Choice, b.Index, delta, b.Text)
	return s.Send(events.TextChunk(delta))
}

func (p *transcript) OnContentComplete(_ context.Context, x *events.Exchange, _ events.Stream, b *events.Content) error {
	p.note(x, "text complete %s %t", b.Text, b.Complete)
	return nil
}

func (p *transcript) OnToolCallDelta(_ context.Context, x *events.Exchange, s events.Stream, b *events.Call, delta string) error {
	if s.SendText("x", false) == nil || s.Send(events.BlockChunk(b)) == nil {
		p.note(x, "A DELTA CAN SEND")
	}
	p.note(x, "call %s %s", b.Name, delta)
	return nil
}

func (p *transcript) OnToolCallComplete(_ context.Context, x *events.Exchange, s events.Stream, b *events.Call) error {
	p.note(x, "call complete %s %s %s", b.ID, b.Name, b.Arguments)
	return s.Send(events.BlockChunk(b))
}

func (p *transcript) OnFinishReason(_ context.Context, x *events.Exchange, _ events.Stream, reason string) error {
	p.note(x, "finish %s", reason)
	return nil
}

func (p *transcript) OnStreamComplete(_ context.Context, x *events.Exchange) error {
	p.note(x, "complete")
	return nil
}

// Proves V3-01, V3-02, V3-03, V3-10, V3-15, V3-16, V3-21, V3-27, V3-31, F6: all hooks of an
// exchange are called, in order, with one scratchpad that is empty at first; the client receives
// the same as without the policy.
func TestAllHooks(t *testing.T) {
	body := chatEvent(`{"role":"assistant","content":"hi "}`, "null") + chatEvent(`{"content":"you"}`, "null") +
		chatCall(0, "c0", "a", `{"path":"x"}`) + chatEvent(`{}`, `"tool_calls"`) + chatDone
	p := &transcript{}
	plain := newRig(t, allowAll, script{body: body}, nil).post(chatPath, chatRequest(true))
	r := newRig(t, allowAll, script{body: body, split: perEvent}, with(p))
	for range 2 {
		p.seen = nil
		if got := r.post(chatPath, chatRequest(true)); got.body != plain.body || got.err != nil {
			t.Errorf("the client got\n%s", got.body)
		}
		r.idle(t)
		want := []string{
			"1 request true true", "2 start", "3 text 0.0 hi  (hi )", "4 text 0.0 you (hi you)", "5 text complete hi you true",
			`6 call a {"path`, `7 call a ":"x"}`, `8 call complete c0 a {"path":"x"}`, "9 finish tool_calls", "10 complete",
		}
		// Chunks of arguments depend on the network.
		if got := p.list(); strings.Join(joined(got), "\n") != strings.Join(joined(want), "\n") {
			t.Errorf("hooks\n%s", strings.Join(got, "\n"))
		}
	}
}

// joined removes the numbers of hooks and joins chunks of arguments.
func joined(seen []string) (out []string) {
	args := ""
	for _, s := range seen {
		_, s, _ = strings.Cut(s, " ")
		if piece, ok := strings.CutPrefix(s, "call a "); ok {
			args += piece
			continue
		}
		out = append(out, s)
	}
	return append(out, args)
}

// idle waits until no request is being served.
func (r *rig) idle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); r.gw.Stats().Exchanges > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an exchange does not end")
		}
	}
}

// talker responds in two dialects, streamed and not, with a text and two calls.
func talker(w http.ResponseWriter, r *http.Request) {
	streamed := false
	body := new(strings.Builder)
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Body.Read(buf)
		body.Write(buf[:n])
		if err != nil {
			break
		}
	}
	streamed = strings.Contains(body.String(), `"stream":true`)
	chatCalls := `[{"index":0,"id":"c0","type":"function","function":{"name":"a","arguments":"{\"path\":\"x\"}"}},{"index":1,"id":"c1","type":"function","function":{"name":"b","arguments":"{\"path\":\"y\"}"}}]`
	text, kind := "", "application/json"
	switch {
	case streamed && r.URL.Path == chatPath:
		text = chatStream("tool_calls", chatCall(0, "c0", "a", `{"path":"x"}`), chatCall(1, "c1", "b", `{"path":"y"}`))
	case streamed:
		text = anthropicStart + anthropicText(0, "hi") + anthropicCall(1, "t0", "a", `{"path":"x"}`) + anthropicCall(2, "t1", "b", `{"path":"y"}`) + anthropicEnd("tool_use")
	case r.URL.Path == chatPath:
		text = `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":` + chatCalls + `},"finish_reason":"tool_calls"}]}`
	default:
		text = `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"t0","name":"a","input":{"path":"x"}},{"type":"tool_use","id":"t1","name":"b","input":{"path":"y"}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`
	}
	if streamed {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	fmt.Fprint(w, text)
}

// everywhere calls f for both dialects, streamed and not.
func everywhere(t *testing.T, rules string, change func(*gateway.Options), f func(t *testing.T, r *rig, got string)) {
	t.Helper()
	for _, stream := range []bool{true, false} {
		for path, request := range map[string]string{chatPath: chatRequest(stream), anthropicPath: anthropicRequest(stream)} {
			t.Run(fmt.Sprintf("%s %t", path, stream), func(t *testing.T) {
				r := newRig(t, rules, http.HandlerFunc(talker), change)
				got := r.post(path, request)
				r.idle(t)
				f(t, r, got.body)
			})
		}
	}
}

// Proves V3-18, V3-29, I23: a policy without calls: none reaches the client, the turn ends like one
// without calls, and every call has its row.
func TestContentOnly(t *testing.T) {
	everywhere(t, allowAll, with(events.ContentOnly{}), func(t *testing.T, r *rig, got string) {
		mustContain(t, got, "hi", "A policy of this gateway removed the call")
		mustLack(t, got, `"tool_calls"`, `"tool_use"`, `{\"path`)
		if !strings.Contains(got, `"stop"`) && !strings.Contains(got, `"end_turn"`) {
			t.Errorf("no end of a turn without calls:\n%s", got)
		}
		if list := r.log.wait(t, 2); list[0] != "a denied policy_dropped" || list[1] != "b denied policy_dropped" {
			t.Errorf("%q", list)
		}
	})
}

// Proves V3-13, V3-19, V3-20, V3-21, V3-22, V3-24: a judge in Go: one call is replaced by a text,
// which ends the output; later chunks are dropped and counted, and the client receives only the
// text.
func TestBlockAndFinish(t *testing.T) {
	var summary atomic.Value
	everywhere(t, allowAll, with(blocker{&summary}), func(t *testing.T, r *rig, got string) {
		mustContain(t, got, "hi", "BLOCKED: a - it looks harmful")
		mustLack(t, got, `"tool_calls"`, `"tool_use"`, `{\"path`)
		r.log.wait(t, 2)
		if summary.Load() != "1 blocked, 1 skipped" {
			t.Errorf("%v", summary.Load())
		}
	})
}

type blocker struct{ summary *atomic.Value }

func (blocker) Name() string { return "blocker" }

func (blocker) OnToolCallComplete(_ context.Context, x *events.Exchange, s events.Stream, b *events.Call) error {
	if s.IsOutputFinished() {
		if err := s.Send(events.BlockChunk(b)); !errors.Is(err, events.ErrFinished) {
			return fmt.Errorf("sending after the end: %v", err)
		}
		x.Count("skipped")
		return nil
	}
	x.Count("blocked")
	return s.SendText("BLOCKED: "+string(b.Name)+" - it looks harmful", true)
}

func (p blocker) OnStreamComplete(_ context.Context, x *events.Exchange) error {
	p.summary.Store(fmt.Sprintf("%v blocked, %v skipped", x.Scratchpad["blocked"], x.Scratchpad["skipped"]))
	return nil
}

// Proves X11, W5: the gate comes last. It judges the call as policies changed it, and no policy can
// loosen a denial.
func TestGateIsLast(t *testing.T) {
	rules := allowAll + "[tools.a.policy]\nrun = [{ arg = \"/path\", const = \"secret\", mode = \"deny\" }, { mode = \"unattended\" }]\n[tools.b.policy]\nrun = \"deny\"\n"
	change := onCallComplete(func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		if b.Name == "a" {
			b.Arguments = `{"path":"secret"}`
		}
		if (b.Name == "b") != (b.Refused == "rule_matched") {
			return fmt.Errorf("%s is refused for %q", b.Name, b.Refused)
		}
		return s.Send(events.BlockChunk(b))
	})
	everywhere(t, rules, with(change), func(t *testing.T, r *rig, got string) {
		mustLack(t, got, `"tool_calls"`, `"tool_use"`, "secret", `{\"path`)
		if list := r.log.wait(t, 3); !slices.Contains(list, "a denied rule_matched") || !slices.Contains(list, "b denied rule_matched") || !slices.Contains(list, "a cancelled cancelled") {
			t.Errorf("%q", list)
		}
	})
	better := onCallComplete(func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		b.Arguments = strings.Replace(b.Arguments, `"x"`, `"better"`, 1)
		return s.Send(events.BlockChunk(b))
	})
	everywhere(t, allowAll, with(better), func(t *testing.T, _ *rig, got string) {
		mustContain(t, got, "better", "c1"[:1])
		mustLack(t, got, `\"x\"`)
	})
}

// Proves V3-11: a request can be changed and refused, in the form of its dialect.
func TestRequestHooks(t *testing.T) {
	var sent atomic.Value
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		buf := new(strings.Builder)
		b := make([]byte, 4096)
		for {
			n, err := r.Body.Read(b)
			buf.Write(b[:n])
			if err != nil {
				break
			}
		}
		sent.Store(buf.String())
		script{body: chatStream("stop")}.ServeHTTP(w, r)
	})
	change := onRequest(func(_ *events.Exchange, r *events.Request) error {
		return r.EditTexts(func(text string) string { return strings.ReplaceAll(text, "x", "[gone]") })
	})
	r := newRig(t, allowAll, up, with(change))
	if got := r.post(chatPath, chatRequest(true)); got.status != 200 {
		t.Fatal(got)
	}
	mustContain(t, sent.Load().(string), `"content":"[gone]"`, `"name":"a"`)
	for name, c := range map[string]struct {
		policy events.Policy
		status int
		code   string
	}{
		"rejected": {onRequest(func(*events.Exchange, *events.Request) error {
			return &events.Rejection{Status: 451, Message: "Not this."}
		}), 451, "request_rejected"},
		"failed":       {onRequest(func(*events.Exchange, *events.Request) error { return errors.New("secret words") }), 500, "policy_error"},
		"panicked":     {onRequest(func(*events.Exchange, *events.Request) error { panic("secret words") }), 500, "policy_error"},
		"no request":   {onRequest(func(_ *events.Exchange, r *events.Request) error { r.SetBody([]byte("{")); return nil }), 500, "policy_error"},
		"not streamed": {onRequest(func(_ *events.Exchange, r *events.Request) error { r.SetBody([]byte(chatRequest(false))); return nil }), 500, "policy_error"},
	} {
		r := newRig(t, allowAll, up, with(c.policy))
		got := r.post(chatPath, chatRequest(true))
		if got.status != c.status || !strings.Contains(got.body, c.code) || strings.Contains(got.body, "secret") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// Proves I14, FM15: a hook that fails, panics or never ends closes the response as a failure: its
// output so far is not sent, and no call runs.
func TestFailingHooks(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	faults := map[string]func() error{
		"error": func() error { return errors.New("secret words") },
		"panic": func() error { panic("secret words") },
		"late":  func() error { <-hang; return nil },
	}
	for name, fault := range faults {
		code := "policy_error"
		if name == "late" {
			code = "policy_timeout"
		}
		for hook, policy := range map[string]events.Policy{
			"delta": onDelta(func(*events.Exchange, events.Stream, string) error { return fault() }),
			"call":  onCallComplete(func(*events.Exchange, events.Stream, *events.Call) error { return fault() }),
		} {
			for _, stream := range []bool{true, false} {
				r := newRig(t, allowAll, http.HandlerFunc(talker), func(o *gateway.Options) {
					o.Policies = []events.Policy{policy}
					o.Settings.Timeouts.Hook = 50 * time.Millisecond
				})
				got := r.post(chatPath, chatRequest(stream))
				mustContain(t, got.body, code)
				mustLack(t, got.body, "secret", `"tool_calls":[`, `{\"path`)
				if hook == "delta" {
					mustLack(t, got.body, `"hi"`)
				}
				r.idle(t)
			}
		}
	}
}

// Proves V3-14: OnStreamComplete is called once, however an exchange ends, and after a hook that
// was abandoned.
func TestCompleteIsAlwaysCalled(t *testing.T) {
	release := make(chan struct{})
	for name, c := range map[string]struct {
		provider http.Handler
		delta    func(context.Context) error
	}{
		"as it should": {script{body: chatStream("stop")}, nil},
		"cut off":      {script{body: chatEvent(`{"content":"hi"}`, "null"), cut: true}, nil},
		"refused":      {http.NotFoundHandler(), nil},
		"a panic":      {script{body: chatStream("stop")}, func(context.Context) error { panic("x") }},
		"given up":     {script{body: chatStream("stop")}, func(context.Context) error { <-release; return nil }},
	} {
		done := make(chan string, 4)
		r := newRig(t, allowAll, c.provider, func(o *gateway.Options) {
			o.Policies = []events.Policy{completing{done, c.delta}}
			o.Settings.Timeouts.Hook = 30 * time.Millisecond
		})
		r.post(chatPath, chatRequest(true))
		r.idle(t)
		if name == "given up" {
			select {
			case <-done:
				t.Error("called while another hook runs")
			default:
			}
			close(release)
		}
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Errorf("%s: not called", name)
		}
		if len(done) > 0 {
			t.Errorf("%s: called twice", name)
		}
	}
}

type completing struct {
	done  chan string
	delta func(context.Context) error
}

func (completing) Name() string { return "completing" }

func (p completing) OnContentDelta(ctx context.Context, _ *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
	if p.delta != nil {
		return p.delta(ctx)
	}
	return s.SendText(delta, false)
}

func (p completing) OnStreamComplete(context.Context, *events.Exchange) error {
	p.done <- "complete"
	return nil
}

// Proves V3-06, V3-07: after the end of its output a policy still sees the rest of the response,
// but none of it is forwarded; a send is an error.
func TestAfterTheEnd(t *testing.T) {
	seen := ""
	stop := onDelta(func(_ *events.Exchange, s events.Stream, delta string) error {
		seen += delta
		if s.IsOutputFinished() {
			if err := s.Send(events.TextChunk("more")); !errors.Is(err, events.ErrFinished) {
				return fmt.Errorf("sending after the end: %v", err)
			}
			return nil
		}
		return s.SendText("the end", true)
	})
	body := chatEvent(`{"content":"one"}`, "null") + chatEvent(`{"content":"two"}`, "null") + chatCall(0, "c0", "a", `{"path":"x"}`) + chatEvent(`{}`, `"tool_calls"`) + chatDone
	r := newRig(t, allowAll, script{body: body, split: perEvent}, with(stop, onCallComplete(func(*events.Exchange, events.Stream, *events.Call) error {
		return errors.New("a call went on behind the end")
	})))
	got := r.post(chatPath, chatRequest(true))
	r.idle(t)
	mustContain(t, got.body, "the end", `"stop"`)
	mustLack(t, got.body, "one", "two", "more", `"tool_calls":[`)
	if seen != "onetwo" {
		t.Errorf("saw %q", seen)
	}
	r.log.wait(t, 1)
}

// Proves V3-25, S17: the client gets keepalives while a hook runs, and the upstream does not count
// as silent.
func TestKeepaliveWhileHooksWork(t *testing.T) {
	slow := onDelta(func(_ *events.Exchange, s events.Stream, delta string) error {
		time.Sleep(600 * time.Millisecond) // a slow hook
		return s.SendText(delta, false)
	})
	slowCall := onCallComplete(func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		time.Sleep(600 * time.Millisecond)
		return s.Send(events.BlockChunk(b))
	})
	// A policy holds a text to its end: the events without it are forwarded. All of them take
	// longer than the limit for a silent upstream, which is long enough for a busy machine.
	const count = 60
	pieces := strings.Repeat(chatEvent(`{"content":"x"}`, "null"), count)
	r := newRig(t, allowAll, paced{pieces + chatEvent(`{}`, `"stop"`) + chatDone, 20 * time.Millisecond}, func(o *gateway.Options) {
		o.Policies = []events.Policy{wholeText{}}
		o.Settings.Timeouts.Keepalive, o.Settings.Timeouts.KeepaliveFirst = 20*time.Millisecond, 20*time.Millisecond
		o.Settings.Timeouts.Idle, o.Settings.Timeouts.IdleFirst = time.Second, time.Second
	})
	got := r.post(chatPath, chatRequest(true))
	mustContain(t, got.body, strings.Repeat("x", count), "[DONE]")
	if n := strings.Count(got.body, `"content":""`); n != count {
		t.Errorf("%d events while text is held back\n%s", n, got.body)
	}
	for name, p := range map[string]events.Policy{"text": slow, "call": slowCall} {
		r := newRig(t, allowAll, http.HandlerFunc(talker), func(o *gateway.Options) {
			o.Policies = []events.Policy{p}
			o.Settings.Timeouts.Keepalive, o.Settings.Timeouts.KeepaliveFirst = 20*time.Millisecond, 20*time.Millisecond
			o.Settings.Timeouts.Idle, o.Settings.Timeouts.IdleFirst = 500*time.Millisecond, 500*time.Millisecond
		})
		got := r.post(chatPath, chatRequest(true))
		if n := strings.Count(got.body, ": stopgate"); n < 2 {
			t.Errorf("%s: %d signs of life\n%s", name, n, got.body)
		}
		mustContain(t, got.body, "hi", `"tool_calls"`, "[DONE]")
	}
}

// paced sends one event at a time.
type paced struct {
	body  string
	every time.Duration
}

func (p paced) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range perEvent(p.body) {
		fmt.Fprint(w, event)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(p.every) // the pace of a model
	}
}

// wholeText sends a text when it is complete.
type wholeText struct{}

func (wholeText) Name() string { return "whole text" }

func (wholeText) OnContentDelta(context.Context, *events.Exchange, events.Stream, *events.Content, string) error {
	return nil
}

func (wholeText) OnContentComplete(_ context.Context, _ *events.Exchange, s events.Stream, b *events.Content) error {
	return s.Send(events.BlockChunk(b))
}

// Proves FM11: new policies apply to later exchanges; running ones keep theirs.
func TestPoliciesAreSwapped(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, chatEvent(`{"content":"a"}`, "null"))
		_ = http.NewResponseController(w).Flush()
		began <- struct{}{}
		<-release
		fmt.Fprint(w, chatEvent(`{"content":"b"}`, "null")+chatEvent(`{}`, `"stop"`)+chatDone)
	})
	mark := func(m string) events.Policy {
		return onDelta(func(_ *events.Exchange, s events.Stream, delta string) error { return s.SendText(m+delta, false) })
	}
	var options gateway.Options
	r := newRig(t, allowAll, up, func(o *gateway.Options) {
		o.Policies = []events.Policy{mark("old-")}
		options = *o
	})
	answers := make(chan string, 2)
	post := func() { answers <- r.post(chatPath, chatRequest(true)).body }
	go post()
	<-began
	options.Policies = []events.Policy{mark("new-")}
	if err := r.gw.Reload(options); err != nil {
		t.Fatal(err)
	}
	options.Policies = []events.Policy{nil}
	if r.gw.Reload(options) == nil {
		t.Error("a policy that is none was taken")
	}
	release <- struct{}{}
	mustContain(t, <-answers, "old-a", "old-b")
	go post()
	<-began
	release <- struct{}{}
	mustContain(t, <-answers, "new-a", "new-b")
}

// Proves V3-23, V3-24, V3-30: opinions of judges are emitted as events, for each call and as a sum,
// also without a listener.
func TestJudgeEvents(t *testing.T) {
	model := reviewer(t, func() {})
	for _, listen := range []bool{true, false} {
		var mu sync.Mutex
		var told []string
		r := newRig(t, allowAll, script{body: chatStream("tool_calls", chatCall(0, "c0", "a", `{"path":"ls"}`),
			chatCall(1, "c1", "b", `{"path":"rm"}`), chatCall(2, "c2", "d", `{}`))}, func(o *gateway.Options) {
			o.Gate = newJudgedGate(t, denying("d")+"[judge]\nmodel = \"judge-1\"\nbase_url = \""+model.URL+"\"\n", &log{})
			if listen {
				o.Events = func(_ context.Context, e events.Event) {
					mu.Lock()
					defer mu.Unlock()
					line := fmt.Sprintf("%s %s %s", e.Type, e.Severity, e.Summary)
					if reason, ok := e.Details["block_reason"].(string); ok {
						line += ": " + reason
					}
					told = append(told, line)
				}
			}
		})
		r.post(chatPath, chatRequest(true))
		r.idle(t)
		want := []string{"judge.passed info passed a", "judge.blocked warning blocked b", "judge.skipped info skipped d", "judge.summary info 2 judged, 1 blocked, 1 skipped: b: It looks so."}
		mu.Lock()
		if listen && !slices.Equal(told, want) {
			t.Errorf("%q", told)
		}
		mu.Unlock()
	}
}

// Proves K38: in observe mode hooks for calls are called but cannot drop a call; texts may be
// changed as usual.
func TestPoliciesInObserveMode(t *testing.T) {
	looked := 0
	drop := onCallComplete(func(_ *events.Exchange, _ events.Stream, b *events.Call) error {
		looked++
		if b.Refused != "" && b.Name == "a" {
			return errors.New("a is refused")
		}
		return nil
	})
	loud := onDelta(func(_ *events.Exchange, s events.Stream, delta string) error {
		return s.SendText(strings.ToUpper(delta), false)
	})
	everywhere(t, denying("b")+"[gate]\nenforcement = \"observe\"\n", with(loud, drop), func(t *testing.T, r *rig, got string) {
		mustContain(t, got, "HI", `path`)
		if !strings.Contains(got, `"tool_calls"`) && !strings.Contains(got, `"tool_use"`) {
			t.Errorf("no call:\n%s", got)
		}
		if list := r.log.wait(t, 2); list[0] != "a observed rule_matched" || list[1] != "b observed rule_matched" || looked == 0 {
			t.Errorf("%q, looked %d times", list, looked)
		}
	})
}
