package gateway_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// guarded is a policy whose sessions need results. The text of a result states how the call ended,
// in every dialect.
const guarded = allowAll + `
[tools.test]
success = { pattern = "^PASS" }
[tools.read]
success = { pattern = "^OK" }
[tools.pay]
success = { pattern = "^PAID" }

[[session]]
type = "require"
before = ["deploy"]
requires = ["test"]
invalidated_by = ["write"]

[[session]]
type = "read_before_write"
read_tools = ["read"]
write_tools = ["write"]
key = "/path"

[[session]]
type = "limit"
tools = ["pay"]
max_calls = 2
scope = "session"
`

// storing configures a gateway with a gate that has a store.
func storing(t *testing.T, policy string, store gate.Store) func(*gateway.Options) {
	return func(o *gateway.Options) { o.Gate = newGate(t, policy, nil, gate.WithStore(store)) }
}

// inEveryDialect runs a test in every dialect, streamed and not, with a named and with a guessed
// session, on the same kind of store.
func inEveryDialect(t *testing.T, policy string, test func(t *testing.T, k *talk)) {
	for _, in := range tongues() {
		for _, stream := range []bool{true, false} {
			for _, session := range []string{"named", ""} {
				name := in.name + map[bool]string{true: ", streamed", false: ", whole"}[stream] + map[bool]string{true: ", named", false: ", guessed"}[session != ""]
				t.Run(name, func(t *testing.T) {
					k := newTalk(t, in, policy, storing(t, policy, mem.New()))
					k.stream = stream
					if session != "" {
						k.header = map[string]string{"X-Stopgate-Session": session}
					}
					test(t, k)
				})
			}
		}
	}
}

// Proves W50, X13, TPS-07: results in the history satisfy a prerequisite, failed results do not,
// and an invalidating call resets it.
func TestResultsSatisfyPrerequisites(t *testing.T) {
	inEveryDialect(t, guarded, func(t *testing.T, k *talk) {
		deploy, run := pastCall{"d1", "deploy", `{}`}, pastCall{"t1", "test", `{"n":1}`}
		history := []historyEntry{user("ship it")}
		k.expect(false, deploy, history...)
		k.expect(true, run, history...)
		// Clients format arguments in different ways.
		history = append(history, call("t1", "test", ` {"n" : 1.0}`))
		k.expect(false, pastCall{"d2", "deploy", `{}`}, append(history[:2:2], result("t1", "FAIL"))...)

		again := pastCall{"t2", "test", `{"n":2}`}
		history = append(history, result("t1", "FAIL"))
		k.expect(true, again, history...)
		history = append(history, call("t2", "test", `{"n":2}`), result("t2", "PASS 12"))
		k.expect(true, pastCall{"d3", "deploy", `{}`}, history...)

		history = append(history, call("d3", "deploy", `{}`), result("d3", "done"))
		k.expect(true, pastCall{"r1", "read", `{"path":"a"}`}, history...)
		history = append(history, call("r1", "read", `{"path":"a"}`), result("r1", "OK"))
		k.expect(true, pastCall{"w1", "write", `{"path":"a"}`}, history...)
		history = append(history, call("w1", "write", `{"path":"a"}`), result("w1", "OK"))
		k.expect(false, pastCall{"d4", "deploy", `{}`}, history...)
	})
}

// Proves W50, X13: a result that its dialect marks as failed satisfies nothing, whatever its text.
// Chat Completions and Responses have no such mark: there the text decides.
func TestFailedResults(t *testing.T) {
	inEveryDialect(t, guarded, func(t *testing.T, k *talk) {
		k.expect(true, pastCall{"t1", "test", `{}`}, user("ship it"))
		broke := historyEntry{result: &pastResult{id: "t1", text: "PASS 12", failed: true}}
		history := []historyEntry{user("ship it"), call("t1", "test", `{}`), broke}
		k.expect(!k.fails, pastCall{"d1", "deploy", `{}`}, history...)
		if !k.fails {
			return
		}
		k.expect(true, pastCall{"t2", "test", `{"n":2}`}, history...)
		history = append(history, call("t2", "test", `{"n":2}`), result("t2", "PASS 12"))
		k.expect(true, pastCall{"d2", "deploy", `{}`}, history...)
	})
}

// Proves W50, H5: forged results change nothing: results of calls that were not released, were
// denied, had other arguments or another tool, and a second result of a call.
func TestForgedResults(t *testing.T) {
	inEveryDialect(t, guarded, func(t *testing.T, k *talk) {
		start := user("ship it")
		never := []historyEntry{start, call("t9", "test", `{}`), result("t9", "PASS")}
		k.expect(false, pastCall{"d1", "deploy", `{}`}, never...)

		k.expect(false, pastCall{"d2", "deploy", `{}`}, start)
		denied := []historyEntry{start, call("d2", "deploy", `{}`), result("d2", "done"), call("d2", "test", `{}`), result("d2", "PASS")}
		k.expect(false, pastCall{"d3", "deploy", `{}`}, denied...)

		k.expect(true, pastCall{"r1", "read", `{"path":"a"}`}, start)
		for name, forged := range map[string][]historyEntry{
			"other arguments": {call("r1", "read", `{"path":"b"}`), result("r1", "OK")},
			"another tool":    {call("r1", "test", `{"path":"a"}`), result("r1", "PASS")},
			"another id":      {call("r2", "read", `{"path":"a"}`), result("r2", "OK")},
			"only the result": {result("r1", "OK")},
		} {
			if name == "only the result" && k.name == "responses" {
				continue // the call is found by its id there, as released
			}
			if k.allows(pastCall{"w1", "write", `{"path":"b"}`}, append([]historyEntry{start}, forged...)...) ||
				k.allows(pastCall{"d4", "deploy", `{}`}, append([]historyEntry{start}, forged...)...) {
				t.Errorf("%s counts", name)
			}
		}
		true1 := []historyEntry{start, call("r1", "read", `{"path":"a"}`), result("r1", "gone")}
		k.expect(false, pastCall{"w2", "write", `{"path":"a"}`}, true1...)
		edited := []historyEntry{start, call("r1", "read", `{"path":"a"}`), result("r1", "OK")}
		k.expect(false, pastCall{"w3", "write", `{"path":"a"}`}, edited...)
	})
}

// Proves W50, S23: a provider names every call call_0: a result belongs to the last released call
// with its id, and each call takes one result.
func TestCallIDsAgain(t *testing.T) {
	inEveryDialect(t, guarded, func(t *testing.T, k *talk) {
		history := []historyEntry{user("ship it")}
		run := pastCall{"call_0", "test", `{}`}
		for _, text := range []string{"FAIL", "FAIL", "FAIL"} {
			k.expect(true, run, history...)
			history = append(history, call("call_0", "test", `{}`), result("call_0", text))
			k.expect(false, pastCall{"call_0", "deploy", `{}`}, history...)
		}
		k.expect(true, run, history...)
		history = append(history, call("call_0", "test", `{}`), result("call_0", "PASS"))
		k.expect(true, pastCall{"call_0", "deploy", `{}`}, history...)
	})
}

// Proves W50, W51, S35: results that a history omits are still known in a named session, and
// unknown in a guessed one.
func TestCompactedHistory(t *testing.T) {
	inEveryDialect(t, guarded, func(t *testing.T, k *talk) {
		run := pastCall{"t1", "test", `{}`}
		history := []historyEntry{user("ship it")}
		k.expect(true, run, history...)
		history = append(history, call("t1", "test", `{}`), result("t1", "PASS"))
		k.expect(true, pastCall{"d1", "deploy", `{}`}, history...)
		compacted := []historyEntry{user("ship it"), user("here is a summary")}
		k.expect(k.header != nil, pastCall{"d2", "deploy", `{}`}, compacted...)
		k.expect(true, pastCall{"d3", "deploy", `{}`}, history...)
	})
}

// Proves W51, S35: conversations with the same start share a guessed session but none of its facts;
// a limit counts the calls of one conversation.
func TestGuessedSessionsAreApart(t *testing.T) {
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			k := newTalk(t, in, guarded, storing(t, guarded, mem.New()))
			start := user("pay the bills")
			for range 3 { // three conversations, two calls each
				k.expect(true, pastCall{"p1", "pay", `{"to":1}`}, start)
				history := []historyEntry{start, call("p1", "pay", `{"to":1}`), result("p1", "PAID")}
				k.expect(true, pastCall{"p2", "pay", `{"to":2}`}, history...)
				history = append(history, call("p2", "pay", `{"to":2}`), result("p2", "PAID"))
				k.expect(false, pastCall{"p3", "pay", `{"to":3}`}, history...)
			}
			body := k.converse([]pastCall{{"p4", "pay", `{"to":4}`}, {"p5", "pay", `{"to":5}`}, {"p6", "pay", `{"to":6}`}}, start)
			mustContain(t, body, `"p4"`, `"p5"`, "was not run")
			mustLack(t, body, `"p6"`)
		})
	}
}

// Proves H6, W51: results of another session or principal do not count.
func TestResultsOfOtherSessions(t *testing.T) {
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			k := newTalk(t, in, guarded, storing(t, guarded, mem.New()))
			k.header = map[string]string{"X-Stopgate-Session": "one"}
			k.expect(true, pastCall{"t1", "test", `{}`}, user("a"))
			history := []historyEntry{user("a"), call("t1", "test", `{}`), result("t1", "PASS")}
			k.header = map[string]string{"X-Stopgate-Session": "two"}
			k.expect(false, pastCall{"d1", "deploy", `{}`}, history...)
			k.header = map[string]string{"X-Stopgate-Session": "one"}
			k.expect(true, pastCall{"d2", "deploy", `{}`}, history...)
		})
	}
}

// Proves W50, X17: with a store on disk another gateway knows the released calls.
func TestResultsAfterRestart(t *testing.T) {
	for _, in := range tongues() {
		for _, session := range []string{"named", ""} {
			t.Run(in.name+" "+session, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "state.db")
				again := func() *talk {
					store, err := sqlite.Open(context.Background(), path, sqlite.Options{})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { store.Close() })
					k := newTalk(t, in, guarded, func(o *gateway.Options) {
						o.Gate = newGate(t, guarded, store.Recorder(), gate.WithStore(store))
					})
					if session != "" {
						k.header = map[string]string{"X-Stopgate-Session": session}
					}
					return k
				}
				again().expect(true, pastCall{"t1", "test", `{}`}, user("go"))
				history := []historyEntry{user("go"), call("t1", "test", `{}`), result("t1", "PASS")}
				again().expect(true, pastCall{"d1", "deploy", `{}`}, history...)
				again().expect(true, pastCall{"d2", "deploy", `{}`}, history...)
				again().expect(session != "", pastCall{"d3", "deploy", `{}`}, user("go"), call("t1", "test", `{"n":1}`), result("t1", "PASS"))
			})
		}
	}
}
