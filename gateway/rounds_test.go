package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/store/mem"
)

func answering(rounds int) func(*gateway.Options) {
	return func(o *gateway.Options) {
		o.Settings.OnDeny, o.Settings.AnswerRounds = gateway.DenyAnswer, rounds
	}
}

// rounded returns the dialects in which nothing replaces an answered call.
func rounded() []tongue { return []tongue{tongues()[0], tongues()[2]} }

// Proves S6, S7, X9, G2-15, K34: a model whose calls were all refused is answered by the gate and
// continues within the same response; the client sees one valid response with the texts of all
// rounds, the allowed call, and the usage of all.
func TestAnswer(t *testing.T) {
	policy := denying("a", "b") + "[tools.c.policy]\nrun = \"skip\"\n"
	for _, in := range rounded() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " streamed ", stream), func(t *testing.T) {
				k := newTalk(t, in, policy, answering(2))
				k.stream, k.tools = stream, []string{"a", "b", "c", "d"}
				k.model.will(pastCall{"x1", "a", `{"path":"secret"}`}, pastCall{"x2", "c", `{}`})
				k.model.will(pastCall{"x3", "b", `{}`})
				body := k.converse([]pastCall{{"x4", "d", `{"n":1}`}}, user("go"))
				mustContain(t, body, `"x4"`)
				mustLack(t, body, `"x1"`, `"x2"`, `"x3"`, "was not run", "secret")
				if got := strings.Join(k.log.wait(t, 4), ", "); got != "a denied rule_matched, c skipped rule_skipped, b denied rule_matched, d allowed rule_matched" {
					t.Errorf("rows %s", got)
				}
				if k.model.requests() != 3 {
					t.Fatalf("%d requests", k.model.requests())
				}
				var h struct {
					Messages []struct {
						Role    string
						Content any
					}
				}
				if err := json.Unmarshal([]byte(k.model.lastRequest()), &h); err != nil {
					t.Fatal(err)
				}
				want := map[string]string{"chat": "user assistant tool tool assistant tool", "anthropic": "user assistant user assistant user"}[in.name]
				var roles []string
				for _, m := range h.Messages {
					roles = append(roles, m.Role)
				}
				if got := strings.Join(roles, " "); got != want {
					t.Errorf("history %s, want %s", got, want)
				}
				mustContain(t, k.model.lastRequest(), `"x1"`, `secret`, `\"code\":\"rule_matched\"`, `\"code\":\"rule_skipped\"`, `"x3"`)
				if in.name == "chat" && stream {
					got := readChat(t, body)
					if fmt.Sprint(got.calls) != `[{0 0 d {"n":1}}]` || got.finish[0] != "tool_calls" || !got.done || got.text != "hi\n\nhi\n\nhi" || strings.Count(body, `"role"`) != 1 || got.late > 0 {
						t.Errorf("%+v\n%s", got, body)
					}
				}
				if in.name == "anthropic" && stream {
					if strings.Count(body, "event: message_start") != 1 || strings.Count(body, "event: message_stop") != 1 {
						t.Error(body)
					}
					for i := range 4 {
						if strings.Count(body, fmt.Sprintf(`"content_block_start","index":%d`, i)) != 1 {
							t.Errorf("block %d: %s", i, body)
						}
					}
					mustContain(t, body, `"usage":{"output_tokens":9}`, `"stop_reason":"tool_use"`)
				}
				if in.name == "anthropic" && !stream {
					mustContain(t, body, `"usage":{"output_tokens":9}`)
					if strings.Count(body, `"text":"hi"`) != 3 {
						t.Error(body)
					}
				}
				if in.name == "chat" && !stream {
					mustContain(t, body, `"content":"hi\n\nhi\n\nhi"`)
				}
			})
		}
	}
}

// Proves H22, S28: a model that repeats refused calls is stopped: after five identical denials, or
// the configured number of any kind, the response ends with a text, and no other round begins.
func TestAnswerStopsAtTheDenialLimit(t *testing.T) {
	names := make([]string, 10)
	for i := range names {
		names[i] = fmt.Sprint("t", i)
	}
	one, each := func(int) string { return "t0" }, func(i int) string { return names[i] }
	for name, c := range map[string]struct {
		gate string
		tool func(i int) string
		want int // number of requests
	}{
		"identical":    {"", one, 6},
		"of any kind":  {"[gate]\ndenial_limit = 7\n", each, 8},
		"never":        {"[gate]\ndenial_limit = 0\n", one, 10},
		"none so many": {"", each, 10},
	} {
		for _, in := range rounded() {
			t.Run(name+" "+in.name, func(t *testing.T) {
				policy := denying(names...) + c.gate
				k := newTalk(t, in, policy, func(o *gateway.Options) {
					answering(9)(o)
					o.Gate = newGate(t, policy, nil, gate.WithStore(mem.New()))
				})
				k.tools, k.header = names, map[string]string{"X-Stopgate-Session": "s"}
				for i := range 9 {
					k.model.will(pastCall{fmt.Sprint("x", i), c.tool(i), `{}`})
				}
				body := k.converse([]pastCall{{"x9", c.tool(9), `{}`}}, user("go"))
				mustContain(t, body, "was not run")
				if n := k.model.requests(); n != c.want {
					t.Errorf("%d requests, want %d: %s", n, c.want, body)
				}
				if stopped := c.want < 10; stopped != strings.Contains(body, "denial_limit") {
					t.Errorf("the end: %s", body)
				}
			})
		}
	}
}

// Proves S6, S28: when the rounds are used up, some calls are allowed, or there was a failure, the
// turn ends with a text as usual.
func TestAnswerEnds(t *testing.T) {
	for _, in := range rounded() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " streamed ", stream), func(t *testing.T) {
				k := newTalk(t, in, denying("a"), answering(1))
				k.stream, k.tools = stream, []string{"a", "b"}
				k.model.will(pastCall{"x1", "a", `{}`})
				body := k.converse([]pastCall{{"x2", "a", `{}`}}, user("go"))
				mustContain(t, body, "`a` was not run")
				mustLack(t, body, `"x1"`, `"x2"`)
				if strings.Count(body, "was not run") != 1 || k.model.requests() != 2 {
					t.Errorf("%d requests: %s", k.model.requests(), body)
				}
				body = k.converse([]pastCall{{"x3", "a", `{}`}, {"x4", "b", `{}`}}, user("go"))
				mustContain(t, body, "`a` was not run", `"x4"`)
				if k.model.requests() != 3 {
					t.Errorf("%d requests", k.model.requests())
				}
			})
		}
	}
}

// Proves FM5, L6: a failure in a later round ends the response with the dialect's error.
func TestAnswerFails(t *testing.T) {
	for _, in := range rounded() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " streamed ", stream), func(t *testing.T) {
				m := &model{}
				n := 0
				provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if n++; n > 1 {
						w.WriteHeader(http.StatusTooManyRequests)
						return
					}
					m.ServeHTTP(w, r)
				})
				r := newRig(t, denying("a"), provider, answering(2))
				m.will(pastCall{"x1", "a", `{}`})
				a := r.send("POST", in.pathOf(stream), mustJSON(in.request(stream, []string{"a"}, []historyEntry{user("go")})), nil)
				if stream && a.err == nil || !stream && a.status != http.StatusBadGateway {
					t.Errorf("status %d, %v", a.status, a.err)
				}
				mustContain(t, a.body, "error", "upstream_error")
				mustLack(t, a.body, `"x1"`)
			})
		}
	}
}

// cutting is a provider whose first response is a call with endless content; the next ones are
// those after it.
type cutting struct {
	endless
	then *model
	n    atomic.Int32
}

func (c *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.n.Add(1) == 1 {
		c.endless.ServeHTTP(w, r)
		return
	}
	c.then.ServeHTTP(w, r)
}

// Proves S7, W6: a model that continues after its call was refused is cancelled at the provider,
// and continues with the refusal: its history has the complete part of the call, and nothing of the
// call runs or is visible.
func TestAnswerCancels(t *testing.T) {
	chat, anthropic := tongues()[0], tongues()[2]
	for _, c := range []struct {
		in                tongue
		begin, more, want string
	}{
		{chat, chatEvent(`{"role":"assistant","content":"hi"}`, "null") + chatEvent(`{"tool_calls":[{"index":0,"id":"x1","type":"function","function":{"name":"a","arguments":"{\"path\":\".env\",\"c\":\""}}]}`, "null"),
			chatEvent(`{"tool_calls":[{"index":0,"function":{"arguments":"xxxxxxxx"}}]}`, "null"), `"arguments":"{\"path\":\".env\"}"`},
		{anthropic, anthropicStart + anthropicText(0, "hi") + "event: content_block_start\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"x1","name":"a","input":{}}}` + "\n\n" +
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\".env\",\"c\":\""}}` + "\n\n",
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"xxxxxxxx"}}` + "\n\n", `"input":{"path":".env"}`},
	} {
		for _, slow := range []bool{false, true} {
			t.Run(fmt.Sprint(c.in.name, " slow ", slow), func(t *testing.T) {
				m := &model{}
				provider := &cutting{endless: endless{begin: c.begin, more: c.more, gone: make(chan int64, 1)}, then: m}
				if slow { // the call does not continue: silence ends it
					provider.more = ": waiting\n\n"
				}
				book := new(recordingObserver)
				r := newRig(t, denyingEnv, provider, func(o *gateway.Options) {
					answering(2)(o)
					o.Observer = book
					if slow {
						o.Settings.Timeouts.DrainUpstream = 100 * time.Millisecond
					}
				})
				m.will(pastCall{"x2", "b", `{"n":2}`})
				a := r.send("POST", c.in.path, mustJSON(c.in.request(true, []string{"a", "b"}, []historyEntry{user("go")})), nil)
				if a.err != nil {
					t.Fatal(a.err, a.body)
				}
				select {
				case <-provider.gone:
				case <-time.After(10 * time.Second):
					t.Fatal("the provider was not stopped")
				}
				mustContain(t, a.body, `"x2"`)
				mustLack(t, a.body, "xxxx", ".env", "was not run", `"x1"`)
				mustContain(t, m.lastRequest(), c.want, `rule_matched`)
				mustLack(t, m.lastRequest(), "xxxx")
				if got := fmt.Sprint(r.log.wait(t, 2)); got != "[a denied rule_matched b allowed rule_matched]" {
					t.Error(got)
				}
				if last := book.wait(t, 1); len(book.next) != 1 || !book.next[0].Cancelled || last.Cancelled {
					t.Errorf("%+v, then %+v", book.next, last)
				}
			})
		}
	}
}

// Proves S7 with after_deny = "drain": the response is read to its end, and the history for the
// model is complete.
func TestAnswerDrains(t *testing.T) {
	k := newTalk(t, tongues()[0], denying("a"), func(o *gateway.Options) {
		answering(1)(o)
		o.Settings.AfterDeny = gateway.DrainUpstream
	})
	k.tools = []string{"a"}
	long := `{"path":"` + strings.Repeat("x", 100_000) + `"}`
	k.model.will(pastCall{"x1", "a", long})
	body := k.converse(nil, user("go"))
	mustContain(t, k.model.lastRequest(), strings.Repeat("x", 100_000))
	mustLack(t, body, "xxxx")
}
