package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
)

// scripted is a provider that gives one response after the other, and stores the requests.
type scripted struct {
	mu    sync.Mutex
	turns []string // the output items of a response, or the blocks of a message
	asked []string
	// write renders a turn as a response.
	write func(n int, stream bool, turn string) string
}

func (m *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var request struct{ Stream bool }
	_ = json.Unmarshal(body, &request)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, string(body))
	n := len(m.asked)
	turn := m.turns[min(n, len(m.turns))-1]
	w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[request.Stream])
	_, _ = io.WriteString(w, m.write(n, request.Stream, turn))
}

// request returns the n-th request, the last one for 0.
func (m *scripted) request(n int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[(n-1+len(m.asked))%len(m.asked)]
}

// numbered returns a response of the provider, with all its events and numbers.
func numbered(n int, stream bool, turn string) string {
	var items []json.RawMessage
	_ = json.Unmarshal([]byte("["+turn+"]"), &items)
	response := func(status string, output []json.RawMessage) string {
		return fmt.Sprintf(`{"id":"resp_%d","object":"response","model":"m","status":%q,"output":%s,"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`, n, status, mustJSON(output))
	}
	if !stream {
		return response("completed", items)
	}
	seq, out := 0, ""
	event := func(typ, members string) {
		out += fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", typ, typ, seq, members)
		seq++
	}
	event("response.created", `"response":`+response("in_progress", []json.RawMessage{}))
	event("response.in_progress", `"response":`+response("in_progress", []json.RawMessage{}))
	for i, raw := range items {
		var item struct{ ID, Type, Arguments string }
		_ = json.Unmarshal(raw, &item)
		at := fmt.Sprintf(`"output_index":%d`, i)
		begun := string(raw)
		if item.Type == "function_call" {
			begun = strings.Replace(begun, mustJSON(item.Arguments), `""`, 1)
		}
		event("response.output_item.added", at+`,"item":`+begun)
		if item.Type == "function_call" {
			event("response.function_call_arguments.delta", at+fmt.Sprintf(`,"item_id":%q,"delta":%s`, item.ID, mustJSON(item.Arguments)))
			event("response.function_call_arguments.done", at+fmt.Sprintf(`,"item_id":%q,"arguments":%s`, item.ID, mustJSON(item.Arguments)))
		}
		event("response.output_item.done", at+`,"item":`+string(raw))
	}
	event("response.completed", `"response":`+response("completed", items))
	return out
}

func functionItem(id, tool, args string) string {
	return fmt.Sprintf(`{"id":"fc_%s","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%s}`, id, id, tool, mustJSON(args))
}

const thought = `{"id":"rs_%d","type":"reasoning","summary":[],"encrypted_content":"secret%d"}`

// responseItems returns the items of the stream by position, and those in its final response. It
// reports events that are out of order.
func responseItems(t *testing.T, stream bool, body string) (streamed, final []string, id string) {
	t.Helper()
	type object struct {
		Type     string
		Sequence *int `json:"sequence_number"`
		Index    int  `json:"output_index"`
		Item     json.RawMessage
		Response struct {
			ID     string
			Output []json.RawMessage
			Usage  struct {
				Output int `json:"output_tokens"`
				Total  int `json:"total_tokens"`
			}
		}
	}
	list := func(raw []json.RawMessage) (items []string) {
		for _, r := range raw {
			items = append(items, string(r))
		}
		return items
	}
	if !stream {
		var o object
		if err := json.Unmarshal([]byte(body), &o.Response); err != nil {
			t.Fatal(err, body)
		}
		return nil, list(o.Response.Output), o.Response.ID
	}
	next, ends, begins, first := 0, 0, 0, ""
	for _, event := range strings.Split(strings.TrimSpace(body), "\n\n") {
		_, data, ok := strings.Cut(event, "data: ")
		if !ok {
			continue
		}
		var o object
		if err := json.Unmarshal([]byte(data), &o); err != nil {
			t.Fatal(err, data)
		}
		if o.Sequence == nil || *o.Sequence != next {
			t.Errorf("event %d: %s", next, data)
		}
		next++
		switch o.Type {
		case "response.created":
			begins++
			first = o.Response.ID
		case "response.output_item.added":
			if o.Index != len(streamed) {
				t.Errorf("item %d is announced as %d", len(streamed), o.Index)
			}
		case "response.output_item.done":
			streamed = append(streamed, string(o.Item))
		case "response.completed":
			ends++
			final, id = list(o.Response.Output), o.Response.ID
		}
	}
	if begins != 1 || ends != 1 || id != first || !slices.Equal(streamed, final) {
		t.Errorf("%d begins, %d ends; streamed %q, at the end %q", begins, ends, streamed, final)
	}
	return streamed, final, id
}

// itemsRig answers a model over Responses: two rounds are refused, the third has a call that runs.
func itemsRig(t *testing.T, rounds int) (*rig, *scripted) {
	m := &scripted{write: numbered, turns: []string{
		fmt.Sprintf(thought, 1, 1) + "," + functionItem("x1", "a", `{"path":"secret"}`),
		functionItem("x2", "b", `{}`),
		fmt.Sprintf(thought, 3, 3) + "," + functionItem("x3", "d", `{"n":1}`),
	}}
	return newRig(t, denying("a", "b"), m, answering(rounds)), m
}

func itemsRequest(stream bool, more string) string {
	return fmt.Sprintf(`{"model":"m","stream":%t,%s"tools":[%s]}`, stream, more, strings.Join([]string{
		`{"type":"function","name":"a","parameters":{}}`, `{"type":"function","name":"b","parameters":{}}`, `{"type":"function","name":"d","parameters":{}}`}, ","))
}

const goOn = `"input":[{"role":"user","content":"go"}],`

// Proves S6, L7, L10 for Responses: the items of all rounds are in one response, with a message in
// place of each refused call, numbered without gaps, with the end of the last round and the usage
// of all; the provider gets its own items back with an envelope as the result of each.
func TestAnswerResponses(t *testing.T) {
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprint("streamed ", stream), func(t *testing.T) {
			r, m := itemsRig(t, 2)
			a := r.post(responsesPath, itemsRequest(stream, goOn))
			if a.status != 200 || a.err != nil {
				t.Fatal(a.status, a.err, a.body)
			}
			_, items, id := responseItems(t, stream, a.body)
			if want := map[bool]string{true: "resp_1", false: "resp_3"}[stream]; id != want || len(items) != 5 {
				t.Fatalf("%s: %q", id, items)
			}
			if items[0] != fmt.Sprintf(thought, 1, 1) || items[3] != fmt.Sprintf(thought, 3, 3) {
				t.Errorf("thoughts %s %s", items[0], items[3])
			}
			mustContain(t, items[1], "msg_stopgate_fc_x1", "`a` was not run")
			mustContain(t, items[2], "msg_stopgate_fc_x2", "`b` was not run")
			mustContain(t, items[4], `"call_id":"x3"`, `{\"n\":1}`)
			mustContain(t, a.body, `"output_tokens":15`, `"total_tokens":45`)
			mustLack(t, a.body, "secret\\", `"call_id":"x1"`, "resp_2")
			want := `"input":[{"role":"user","content":"go"},` + fmt.Sprintf(thought, 1, 1) + "," + functionItem("x1", "a", `{"path":"secret"}`) +
				`,{"type":"function_call_output","call_id":"x1","output":"{\"status\":\"denied\",\"code\":\"rule_matched\"`
			mustContain(t, m.request(2), want)
			mustContain(t, m.request(3), want, functionItem("x2", "b", `{}`)+`,{"type":"function_call_output","call_id":"x2"`)
			if got := strings.Join(r.log.wait(t, 3), ", "); got != "a denied rule_matched, b denied rule_matched, d allowed rule_matched" {
				t.Errorf("rows %s", got)
			}
		})
	}
}

// Proves S6, L10: data after the end of a round, of any length, does not change the round for the
// client.
func TestAnswerAfterTheEnd(t *testing.T) {
	const late = "data: {\"type\":\"response.late\"}\n\n" // received before the end is judged, so that reading continues
	behind := late + strings.Repeat(": a comment behind the end\n", 2000) + late
	ask := func(behind string, policies ...events.Policy) string {
		r, m := itemsRig(t, 2)
		m.write = func(n int, stream bool, turn string) string { return numbered(n, stream, turn) + behind }
		if len(policies) > 0 {
			r = newRig(t, denying("a", "b"), m, func(o *gateway.Options) {
				answering(2)(o)
				with(policies...)(o)
			})
		}
		a := r.post(responsesPath, itemsRequest(true, goOn))
		if a.status != 200 || a.err != nil {
			t.Fatal(a.status, a.err, a.body)
		}
		return a.body
	}
	same := onDelta(func(_ *events.Exchange, s events.Stream, delta string) error { return s.SendText(delta, false) })
	_, want, _ := responseItems(t, true, ask(""))
	for name, body := range map[string]string{"alone": ask(behind), "with an event policy": ask(behind, same)} {
		if _, items, _ := responseItems(t, true, body); !slices.Equal(items, want) {
			t.Errorf("%s: %q, want %q", name, items, want)
		}
	}
}

// Proves S6, S7: items that the provider does not store are not referenced; a conversation already
// has the model's items; a text is an item like any other.
func TestAnswerResponsesStorage(t *testing.T) {
	for name, c := range map[string]struct{ more, want, lack string }{
		"a text":         {`"input":"go",`, `"input":[{"type":"message","role":"user","content":"go"},{"id":"rs_1"`, "\x00"},
		"no input":       {`"previous_response_id":"p",`, `"input":[{"id":"rs_1"`, "\x00"},
		"a conversation": {`"conversation":"conv_1",` + goOn, `"input":[{"type":"function_call_output","call_id":"x1"`, `"go"`},
		"nothing stored": {`"store":false,` + goOn, `{"id":"rs_1"`, "\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			r, m := itemsRig(t, 1)
			r.post(responsesPath, itemsRequest(true, c.more))
			mustContain(t, m.request(2), c.want)
			mustLack(t, m.request(2), c.lack)
		})
	}
	r, m := itemsRig(t, 1)
	m.turns[0] = strings.Replace(m.turns[0], `,"encrypted_content":"secret1"`, "", 1)
	r.post(responsesPath, itemsRequest(true, `"store":false,`+goOn))
	mustContain(t, m.request(2), `"call_id":"x1"`)
	mustLack(t, m.request(2), "rs_1")
}

// Proves W47, S6: the request after an answered response, however the client refers to the history,
// gives the provider its own history: by the id of the first round or of the last, by a
// conversation, by items, and by items without ids.
func TestAnswerResponsesHistory(t *testing.T) {
	result := func(id string) string {
		return `{"type":"function_call_output","call_id":"` + id + `","output":"{\"status\":\"denied\"`
	}
	call1, call2 := functionItem("x1", "a", `{"path":"secret"}`), functionItem("x2", "b", `{}`)
	for _, stream := range []bool{true, false} {
		r, m := itemsRig(t, 2)
		_, items, id := responseItems(t, stream, r.post(responsesPath, itemsRequest(stream, goOn)).body)
		after := `{"type":"function_call_output","call_id":"x3","output":"ok"}`
		for _, previous := range []string{"resp_1", "resp_2", id} {
			r.post(responsesPath, itemsRequest(stream, `"previous_response_id":"`+previous+`","input":[`+after+`],`))
			mustContain(t, m.request(0), `"previous_response_id":"resp_3","input":[`+after+`]`)
		}
		replayed := strings.Join(items, ",")
		for _, in := range []string{replayed, withoutIDs(t, items)} {
			r.post(responsesPath, itemsRequest(stream, `"input":[{"role":"user","content":"go"},`+in+`,`+after+`],`))
			got := m.request(0)
			mustContain(t, got, call1+","+result("x1"), call2+","+result("x2"), after)
			mustLack(t, got, "was not run", "msg_stopgate")
		}
	}
	// A call that ends a response of a conversation gets its result with the next input.
	r, m := itemsRig(t, 0)
	r.post(responsesPath, itemsRequest(true, `"conversation":{"id":"conv_1"},`+goOn))
	r.post(responsesPath, itemsRequest(true, `"conversation":"conv_1",`+goOn))
	mustContain(t, m.request(2), `"input":[`+result("x1"))
	mustLack(t, m.request(2), "path")
}

// withoutIDs returns the input of a client that drops the ids of messages.
func withoutIDs(t *testing.T, items []string) string {
	var list []string
	for _, text := range items {
		var item map[string]any
		if err := json.Unmarshal([]byte(text), &item); err != nil {
			t.Fatal(err)
		}
		if item["type"] == "message" {
			delete(item, "id")
			delete(item, "status")
			text = mustJSON(item)
		}
		list = append(list, text)
	}
	return strings.Join(list, ",")
}

// Proves S6, S28: when the rounds are used up the last refusal ends the response, and numbering
// continues for an error in a later round.
func TestAnswerResponsesEnds(t *testing.T) {
	for _, stream := range []bool{true, false} {
		r, m := itemsRig(t, 1)
		a := r.post(responsesPath, itemsRequest(stream, goOn))
		_, items, id := responseItems(t, stream, a.body)
		if want := map[bool]string{true: "resp_1", false: "resp_2"}[stream]; len(items) != 3 || id != want || len(m.asked) != 2 {
			t.Errorf("%s, %d requests: %q", id, len(m.asked), items)
		}
		m.write = func(n int, stream bool, turn string) string {
			if n < 4 {
				return numbered(n, stream, turn)
			}
			return map[bool]string{true: "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n", false: "{"}[stream]
		}
		m.turns = m.turns[:1]
		a = r.post(responsesPath, itemsRequest(stream, goOn))
		if stream {
			at := strings.Index(a.body, "event: error")
			if at < 0 || a.err == nil {
				t.Fatal(a.err, a.body)
			}
			mustContain(t, a.body[at:], fmt.Sprintf(`"sequence_number":%d`, strings.Count(a.body[:at], "sequence_number")))
		} else if a.status != http.StatusBadGateway {
			t.Error(a.status, a.body)
		}
	}
}
