package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
)

// witness records its hooks. It rewrites calls of a, and its last text has the numbers of calls.
type witness struct {
	mu    sync.Mutex
	lines []string
	calls chan string // ids of complete calls
}

func (*witness) Name() string { return "witness" }

func (p *witness) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if n := len(p.lines); n > 0 && strings.HasPrefix(line, "arguments") && strings.HasPrefix(p.lines[n-1], "arguments") {
		p.lines[n-1] = line // they arrive in any number of chunks
		return
	}
	p.lines = append(p.lines, line)
}

func (p *witness) OnStreamStart(context.Context, *events.Exchange, events.Stream) error {
	p.note("start")
	return nil
}

func (p *witness) OnContentDelta(_ context.Context, _ *events.Exchange, s events.Stream, b *events.Content, delta string) error {
	p.note("text %s", b.Text)
	return s.SendText(delta, false)
}

func (p *witness) OnContentComplete(_ context.Context, _ *events.Exchange, _ events.Stream, b *events.Content) error {
	p.note("text complete %s", b.Text)
	return nil
}

func (p *witness) OnToolCallDelta(_ context.Context, _ *events.Exchange, _ events.Stream, b *events.Call, _ string) error {
	p.note("arguments %s", b.Arguments)
	return nil
}

func (p *witness) OnToolCallComplete(_ context.Context, _ *events.Exchange, s events.Stream, b *events.Call) error {
	p.note("call %s %s%s", b.Name, b.Arguments, b.Refused)
	if b.Name == "a" {
		b.Arguments = `{"path":"rewritten"}`
	}
	p.calls <- string(b.ID)
	return s.Send(events.BlockChunk(b))
}

func (p *witness) OnFinishReason(_ context.Context, x *events.Exchange, s events.Stream, _ string) error {
	p.note("finish")
	return s.SendText(fmt.Sprintf("<%d judged, %d blocked, %d rewritten>", x.Calls.Judged, x.Calls.Blocked, x.Calls.Rewritten), true)
}

func (p *witness) OnStreamComplete(_ context.Context, x *events.Exchange) error {
	p.note("complete %d", x.Calls.Judged)
	return nil
}

// held is a provider that sends the events of a stream up to the one that contains mark. Then it calls
// wait, and sends the rest if wait returns true.
type held struct {
	tongue
	body string
	mark string
	wait func(r *http.Request) bool
}

func (h held) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if !strings.HasPrefix(h.body, "data:") && !strings.HasPrefix(h.body, "event:") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, h.body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	waited := false
	for _, event := range perEvent(h.body) {
		if !waited && strings.Contains(event, h.mark) {
			waited = true
			if !h.wait(r) {
				return
			}
		}
		_, _ = io.WriteString(w, event)
		_ = http.NewResponseController(w).Flush()
	}
}

// endMarks are what the first event of the end of a response contains.
var endMarks = map[string]string{"chat": `"finish_reason":"tool_calls"`, "responses": `"response.completed"`, "anthropic": `"message_delta"`, "gemini": `"finishReason"`}

// Proves V3-10, V3-16, V3-20, V3-26, V3-29: the order and the time of hooks, in every dialect,
// streamed and not: a call is complete with its last argument, before the provider ends the response;
// the finish hook is the last that sends, and knows how many calls were judged, blocked and rewritten.
func TestOrderOfHooks(t *testing.T) {
	for _, in := range tongues() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " streamed ", stream), func(t *testing.T) {
				p := &witness{calls: make(chan string, 2)}
				up := held{tongue: in, body: in.response(stream, "r", []pastCall{{"c0", "a", `{"path":"x"}`}, {"c1", "b", `{}`}}), mark: endMarks[in.name]}
				up.wait = func(*http.Request) bool {
					for _, want := range []string{"c0", "c1"} {
						select {
						case id := <-p.calls:
							if id != want {
								t.Errorf("call %s, want %s", id, want)
							}
						case <-time.After(10 * time.Second):
							t.Error("a hook waits for the end of the response")
						}
					}
					return true
				}
				r := newRig(t, denying("b"), up, with(p))
				got := r.post(in.pathOf(stream), mustJSON(in.request(stream, []string{"a", "b"}, []historyEntry{user("go")})))
				r.idle(t)
				want := []string{"start", "text hi", "text complete hi", `arguments {"path":"x"}`, `call a {"path":"x"}`, "arguments {}", "call b {}rule_matched", "finish", "complete 2"}
				if in.name == "responses" {
					want = slices.Delete(want, 1, 3) // its answer has no text
				}
				if !slices.Equal(p.lines, want) {
					t.Errorf("hooks\n%s\nwant\n%s", strings.Join(p.lines, "\n"), strings.Join(want, "\n"))
				}
				mustContain(t, strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(got.body), "<2 judged, 1 blocked, 1 rewritten>", "rewritten", `"c0"`)
				mustLack(t, got.body, `"c1"`)
			})
		}
	}
}

// inAll calls f for every dialect, streamed and not, with the answer to a turn with these calls.
func inAll(t *testing.T, rules string, change func(*gateway.Options), calls []pastCall, f func(t *testing.T, k *talk, got string)) {
	t.Helper()
	for _, in := range tongues() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " streamed ", stream), func(t *testing.T) {
				k := newTalk(t, in, rules, change)
				k.stream, k.tools = stream, []string{"a", "b"}
				got := k.converse(calls, user("go"))
				k.idle(t)
				f(t, k, got)
			})
		}
	}
}

// ends are the ends of a turn without calls.
var ends = map[string]string{"chat": `"finish_reason":"stop"`, "responses": `"status":"completed"`, "anthropic": `"end_turn"`, "gemini": `"STOP"`}

// Proves V3-18: calls can be dropped silently: nothing is shown, the turn ends like one without calls,
// the model is not answered, and every call has its record.
func TestSilentDrops(t *testing.T) {
	inAll(t, allowAll, func(o *gateway.Options) {
		answering(2)(o)
		with(events.ContentOnly{Silent: true})(o)
	}, []pastCall{{"c0", "a", `{"path":"x"}`}, {"c1", "b", `{}`}}, func(t *testing.T, k *talk, got string) {
		mustContain(t, got, ends[k.name])
		mustLack(t, got, `"c0"`, `"c1"`, "stopgate]", "was not run", "removed", "policy_dropped")
		if list := k.log.wait(t, 2); list[0] != "a denied policy_dropped" || list[1] != "b denied policy_dropped" || k.model.requests() != 1 {
			t.Errorf("%q, %d requests", list, k.model.requests())
		}
	})
}

// dropDeltas has only the hook for chunks of arguments, and drops all of them.
type dropDeltas struct{}

func (dropDeltas) Name() string { return "drop deltas" }

func (dropDeltas) OnToolCallDelta(context.Context, *events.Exchange, events.Stream, *events.Call, string) error {
	return nil
}

// Proves V3-18: a policy that drops every chunk of a call drops the call.
func TestDroppedDeltas(t *testing.T) {
	inAll(t, allowAll, with(dropDeltas{}), []pastCall{{"c0", "a", `{"command":"rm -rf /"}`}, {"c1", "b", `{}`}}, func(t *testing.T, k *talk, got string) {
		mustContain(t, got, ends[k.name], "A policy of this gateway removed the call")
		mustLack(t, got, `"c0"`, `"c1"`, "rm -rf")
		if list := k.log.wait(t, 2); list[0] != "a denied policy_dropped" || list[1] != "b denied policy_dropped" {
			t.Errorf("%q", list)
		}
	})
}

// Proves V3-06, V3-20, V3-22: after a policy has ended its output nothing is added: no later call, no
// notice about one that it or the gate refused, and no text.
func TestNothingAfterTheOutput(t *testing.T) {
	block := onCallComplete(func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		if s.IsOutputFinished() {
			return nil
		}
		return s.SendText("BLOCKED", true)
	})
	inAll(t, denying("b"), with(block), []pastCall{{"c0", "a", `{}`}, {"c1", "b", `{}`}, {"c2", "a", `{"n":1}`}}, func(t *testing.T, k *talk, got string) {
		mustContain(t, got, "BLOCKED", ends[k.name])
		mustLack(t, got, `"c0"`, `"c1"`, `"c2"`, "was not run", "removed")
		if list := k.log.wait(t, 3); list[1] != "b denied rule_matched" || list[2] != "a denied policy_dropped" {
			t.Errorf("%q", list)
		}
	})
	text := anthropicStart + anthropicCall(0, "c0", "a", `{}`) + anthropicText(1, "later") + anthropicEnd("tool_use")
	r := newRig(t, allowAll, script{body: text, split: perEvent}, with(block))
	got := r.post(anthropicPath, anthropicRequest(true))
	mustContain(t, got.body, "BLOCKED", "message_stop")
	mustLack(t, got.body, "later")
	// A policy without a hook for calls ends its output too.
	end := onDelta(func(_ *events.Exchange, s events.Stream, _ string) error {
		if s.IsOutputFinished() {
			return nil
		}
		return s.SendText("END", true)
	})
	r = newRig(t, allowAll, http.HandlerFunc(talker), with(end))
	got = r.post(chatPath, chatRequest(true))
	mustContain(t, got.body, "END", ends["chat"])
	mustLack(t, got.body, `"c0"`, `"c1"`, "was not run", "removed")
}

// Proves V3-05, L6: a hook ends the response early, in text or at a call, in every dialect: the
// provider is cancelled, and the client gets a valid end with nothing after the policy's text.
func TestHooksStopTheModel(t *testing.T) {
	inText := onDelta(func(_ *events.Exchange, s events.Stream, _ string) error {
		defer s.Stop()
		return s.SendText("ENOUGH", true)
	})
	atCall := onCallComplete(func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		if b.Name == "b" {
			defer s.Stop()
			return s.SendText("ENOUGH", true)
		}
		return s.Send(events.BlockChunk(b))
	})
	message := responsesEvent("response.created", `"response":{"id":"r","status":"in_progress","output":[]}`) +
		responsesEvent("response.output_item.added", `"output_index":0,"item":{"id":"m1","type":"message","status":"in_progress","role":"assistant","content":[]}`) +
		responsesEvent("response.content_part.added", `"item_id":"m1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`) +
		responsesEvent("response.output_text.delta", `"item_id":"m1","output_index":0,"content_index":0,"delta":"hi"`)
	lastEvents := map[string]string{"chat": "[DONE]", "responses": "response.completed", "anthropic": "message_stop", "gemini": `"STOP"`}
	for _, in := range tongues() {
		calls := []pastCall{{"c0", "a", `{}`}, {"c1", "b", `{}`}}
		talk, call := in.response(true, "r", nil), in.response(true, "r", calls)
		if in.name == "responses" {
			talk = message + responsesEvent("response.completed", `"response":{}`)
		}
		textEnd := map[string]string{"chat": `"finish_reason":"stop"`, "responses": "response.completed", "anthropic": `"content_block_stop"`, "gemini": `"finishReason"`}
		for name, c := range map[string]struct {
			body, mark string
			policy     events.Policy
		}{"text": {talk, textEnd[in.name], inText}, "call": {call, endMarks[in.name], atCall}} {
			t.Run(in.name+" "+name, func(t *testing.T) {
				cancelled := make(chan bool, 1)
				r := newRig(t, allowAll, held{tongue: in, body: c.body, mark: c.mark, wait: func(r *http.Request) bool {
					select {
					case <-r.Context().Done():
						cancelled <- true
					case <-time.After(10 * time.Second):
						cancelled <- false
					}
					return false
				}}, with(c.policy))
				request := in.request(true, []string{"a", "b"}, []historyEntry{user("go")})
				request["store"] = false // else the rest is read for the provider's store
				got := r.post(in.path, mustJSON(request))
				if !<-cancelled || got.err != nil {
					t.Errorf("the model was not cancelled, or the stream broke off: %v", got.err)
				}
				mustContain(t, got.body, "ENOUGH", lastEvents[in.name], ends[in.name])
				mustLack(t, got.body, `"c0"`, `"c1"`, "was not run", "was stopped")
				if name == "text" {
					mustLack(t, got.body, `"hi"`)
				}
				r.idle(t)
			})
		}
	}
}
