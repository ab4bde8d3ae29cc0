package chain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/chain"
)

// begin starts a run with n calls whose arguments are complete.
func begin(t *testing.T, n int, policies ...events.Policy) *chain.Run {
	t.Helper()
	run := chained(t, policies...).Begin(chain.Setup{Exchange: events.Exchange{Dialect: "openai-chat"}})
	for i := range n {
		run.Call(i, 0, "id", "tool")
		if complete, err := run.CallDelta(t.Context(), i, fmt.Sprintf(`{"n":%d}`, i)); !complete || err != nil {
			t.Fatal(complete, err)
		}
	}
	return run
}

// decide passes all calls through the policies and returns the decisions as words.
func decide(t *testing.T, run *chain.Run, n int) (list []string, err error) {
	t.Helper()
	for i := range n {
		run.CallComplete(t.Context(), i, "id", "")
	}
	for i := range n {
		d, failed := run.Decision(t.Context(), i)
		err = errors.Join(err, failed)
		word := "dropped"
		switch {
		case d.Sent:
			word = "sent"
		case d.Text != "":
			word = "replaced"
		case d.Silent:
			word = "silent"
		}
		list = append(list, word)
	}
	return list, err
}

// Proves V3-10, V3-15, V3-22, X17: hooks of independent calls await their reviewers at once, each
// within its own time limit; everything else of them runs one after the other, in call order; without
// Await they run one after the other. The clock is synthetic.
func TestHooksOfCallsInTime(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name  string
		await []time.Duration // by call; negative: without Await
		after time.Duration   // work of every hook after Await
		took  time.Duration
		late  bool
	}{
		{"two of 9.5 s", []time.Duration{9500 * time.Millisecond, 9500 * time.Millisecond}, 0, 9500 * time.Millisecond, false},
		{"two of 9.5 s in a row", []time.Duration{-9500 * time.Millisecond, -9500 * time.Millisecond}, 0, 19 * s, false},
		{"the second is faster", []time.Duration{9 * s, s}, 0, 9 * s, false},
		{"waiting for the first is not time of the second", []time.Duration{s, s}, 8 * s, 17 * s, false},
		{"too slow", []time.Duration{s, 11 * s}, 0, 10 * s, true},
		{"too slow after it awaited", []time.Duration{3 * s}, 8 * s, 10 * s, true},
		{"too slow without Await", []time.Duration{-11 * s}, 0, 10 * s, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, busy := time.Now(), 0
				var order []int
				run := begin(t, len(c.await), caller(func(_ *events.Exchange, st events.Stream, b *events.Call) error {
					busy++
					if busy != 1 {
						t.Error("two hooks at once")
					}
					d := c.await[b.Index]
					if d < 0 {
						time.Sleep(-d)
					} else {
						busy--
						st.Await(func() { time.Sleep(d) })
						busy++
					}
					time.Sleep(c.after)
					busy--
					order = append(order, b.Index)
					return st.Send(events.BlockChunk(b))
				}))
				_, err := decide(t, run, len(c.await))
				if took := time.Since(began); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				var failed *chain.HookError
				switch late := errors.As(err, &failed) && failed.Late && failed.Policy == "caller" && failed.Hook == "OnToolCallComplete"; {
				case late != c.late:
					t.Errorf("%v", err)
				case !late && !slices.IsSorted(order):
					t.Errorf("order %v", order)
				}
				run.Complete(t.Context())
				time.Sleep(time.Minute) // abandoned hooks end
			})
		})
	}
}

// Proves V3-15, V3-22: an earlier call whose hook ends the output drops a later one that was sent
// while the earlier one awaited its reviewer, and texts wait for both.
func TestTheEarlierCallEndsTheOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, 3, caller(func(_ *events.Exchange, s events.Stream, b *events.Call) error {
			if b.Index == 0 {
				s.Await(func() { time.Sleep(time.Second) })
				return s.SendText("BLOCKED", true)
			}
			if s.IsOutputFinished() {
				return nil
			}
			return s.Send(events.BlockChunk(b))
		}))
		for i := range 2 {
			run.CallComplete(t.Context(), i, "id", "")
		}
		began := time.Now()
		out, err := io.ReadAll(run.Reader(t.Context(), strings.NewReader(chatOf("after"))))
		if err != nil || tellChat(string(out)) != "" || time.Since(began) != time.Second {
			t.Errorf("after %v: %q, %v", time.Since(began), out, err)
		}
		if list, err := decide(t, run, 3); fmt.Sprint(list) != "[replaced silent silent]" || err != nil {
			t.Errorf("%v %v", list, err)
		}
	})
}

// deltas is a policy that decides about calls by their chunks.
type deltas func(s events.Stream, b *events.Call, delta string) error

func (deltas) Name() string { return "deltas" }

func (f deltas) OnToolCallDelta(_ context.Context, _ *events.Exchange, s events.Stream, b *events.Call, delta string) error {
	return f(s, b, delta)
}

// Proves V3-13, V3-18: a policy with OnToolCallDelta alone forwards a call by sending every chunk; a
// call of which it withholds one is dropped, also one without arguments.
func TestDeltasDecide(t *testing.T) {
	forward := func(s events.Stream, b *events.Call, _ string) error { return s.Send(events.BlockChunk(b)) }
	for _, c := range []struct {
		name   string
		f      deltas
		pieces []string
		want   string
	}{
		{"drops", func(events.Stream, *events.Call, string) error { return nil }, []string{`{"a"`, `:1}`}, "dropped"},
		{"drops a call without arguments", func(events.Stream, *events.Call, string) error { return nil }, nil, "dropped"},
		{"forwards", forward, []string{`{"a"`, `:1}`}, "sent"},
		{"forwards a call without arguments", forward, nil, "sent"},
		{"withholds one chunk", func(s events.Stream, b *events.Call, delta string) error {
			if delta == `:1}` {
				return nil
			}
			return forward(s, b, delta)
		}, []string{`{"a"`, `:1}`}, "dropped"},
		{"silently", func(s events.Stream, _ *events.Call, _ string) error { return s.DropSilently() }, []string{`{"a":1}`}, "silent"},
		{"no text", func(s events.Stream, b *events.Call, delta string) error {
			if err := s.SendText("x", false); !errors.Is(err, events.ErrNotAllowed) {
				t.Errorf("text: %v", err)
			}
			return forward(s, b, delta)
		}, []string{`{}`}, "sent"},
	} {
		run := chained(t, c.f).Begin(chain.Setup{Exchange: events.Exchange{Dialect: "openai-chat"}})
		run.Call(0, 0, "id", "tool")
		for _, p := range c.pieces {
			if _, err := run.CallDelta(t.Context(), 0, p); err != nil {
				t.Error(err)
			}
		}
		if list, err := decide(t, run, 1); list[0] != c.want || err != nil {
			t.Errorf("%s: %v %v", c.name, list, err)
		}
	}
}

// Proves V3-16: the end of arguments is found wherever the provider cuts them.
func TestArgumentsAreComplete(t *testing.T) {
	for _, args := range []string{`{}`, `{"a":{"b":[1,"}]{"]},"c":"\"}\\"}`, ` [ ]`, `{"a":"\\"}`} {
		for cut := range len(args) {
			run := chained(t, caller(nil)).Begin(chain.Setup{})
			run.Call(0, 0, "id", "tool")
			before, _ := run.CallDelta(t.Context(), 0, args[:cut])
			after, _ := run.CallDelta(t.Context(), 0, args[cut:])
			if before || !after {
				t.Errorf("%s cut at %d: %v, then %v", args, cut, before, after)
			}
		}
	}
}

// Proves V3-05: the text with which a hook stops a response passes the policies after it to its end,
// and nothing follows.
func TestStopInText(t *testing.T) {
	stopped := 0
	stop := texts(func(s events.Stream, delta string) error {
		if delta != "two" {
			return s.SendText(delta, false)
		}
		if err := s.SendText("sk-123", true); err != nil {
			return err
		}
		s.Stop()
		return nil
	})
	for dialect, body := range map[string]string{"openai-chat": chatOf("one ", "two", "three")} {
		run := chained(t, stop, redaction(t, events.Redaction{Patterns: []string{`sk-\d{3,}`}}), closing{}).Begin(chain.Setup{
			Exchange: events.Exchange{Dialect: dialect}, Stop: func() { stopped++ },
		})
		if got := tellChat(throughRun(t, run, body)); got != "one [redacted]<C>" || stopped != 1 || !run.Stopped() {
			t.Errorf("%q, stopped %d times", got, stopped)
		}
	}
}

type texts func(s events.Stream, delta string) error

func (texts) Name() string { return "texts" }

func (f texts) OnContentDelta(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
	return f(s, delta)
}
