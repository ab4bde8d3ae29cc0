package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/judge"
)

// reviewer is the model of a judge that objects to calls with "rm".
func reviewer(t *testing.T, before func()) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct{ Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		before()
		p := 0.1
		if strings.Contains(body.Messages[1].Content, "rm") {
			p = 0.9
		}
		w.Header().Set("Content-Type", "application/json")
		content, _ := json.Marshal(fmt.Sprintf(`{"probability":%g,"explanation":"It looks so."}`, p))
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}]}`, content)
	}))
	t.Cleanup(srv.Close)
	return srv
}

// Proves S29, V3-19, V3-21, P22, I12, X10: all calls of a response are judged concurrently; the
// objected ones are replaced and the others arrive, in a stream and in a body.
func TestJudgedCalls(t *testing.T) {
	for _, stream := range []bool{true, false} {
		var here sync.WaitGroup
		here.Add(3)
		model := reviewer(t, func() {
			here.Done()
			here.Wait() // returns when all three are being judged
		})
		rules := allowAll + "[judge]\nmodel = \"judge-1\"\nbase_url = \"" + model.URL + "\"\n"
		provider := script{body: chatStream("tool_calls",
			chatCall(0, "c0", "a", `{"path":"ls"}`), chatCall(1, "c1", "b", `{"path":"rm all"}`), chatCall(2, "c2", "c", `{"path":"cat"}`))}
		if !stream {
			call := func(id, name, args string) string {
				return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, name, args)
			}
			provider = script{kind: "application/json", body: `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` +
				strings.Join([]string{call("c0", "a", `{"path":"ls"}`), call("c1", "b", `{"path":"rm all"}`), call("c2", "c", `{"path":"cat"}`)}, ",") +
				`]},"finish_reason":"tool_calls"}]}`}
		}
		recorder := &log{}
		r := newRig(t, allowAll, provider, func(o *gateway.Options) {
			o.Gate = newJudgedGate(t, rules, recorder)
		})
		r.log = recorder
		got := r.post(chatPath, chatRequest(stream))
		mustContain(t, got.body, `ls`, `cat`, "A safety review did not accept this call", `tool_calls`)
		mustLack(t, got.body, "rm all", "It looks so")
		list := r.log.wait(t, 3)
		if len(list) == 3 && (list[0] != "a allowed rule_matched" || list[1] != "b denied judge_denied" || list[2] != "c allowed rule_matched") {
			t.Errorf("stream %v: %q", stream, list)
		}
		for _, row := range recorder.rows {
			if row.Kind == stopgate.RecordDecision && (row.Judge == nil || row.Judge.Model != "judge-1" || row.Judge.Explanation != "It looks so.") {
				t.Errorf("row %+v", row.Judge)
			}
		}
	}
}

// newJudgedGate is newGate with the judges of the policy.
func newJudgedGate(t *testing.T, rules string, r gate.Recorder) *gate.Gate {
	t.Helper()
	p, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(rules), Trusted: true}}, policy.Options{})
	if p == nil {
		t.Fatal(found)
	}
	g, err := gate.New(p, gate.WithRecorder(r), gate.WithDenyMode(gate.DenyToolResult), gate.WithJudges(judge.New(judge.Options{}).Judge))
	if err != nil {
		t.Fatal(err)
	}
	return g
}
