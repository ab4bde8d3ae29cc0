package replay_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// upstream returns a client of a provider within the process.
func upstream(t *testing.T, o replay.Options) *http.Client {
	t.Helper()
	u, err := replay.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: replay.Transport(u)}
}

func post(t *testing.T, c *http.Client, path, body string) (*http.Response, string) {
	t.Helper()
	res, err := c.Post("http://replay"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// events returns the data of the events of a stream.
func events(t *testing.T, body string) []string {
	t.Helper()
	var list []string
	for _, frame := range strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		lines := strings.Split(frame, "\n")
		data, ok := strings.CutPrefix(lines[len(lines)-1], "data: ")
		if !ok {
			t.Fatalf("event without data: %q", frame)
		}
		list = append(list, data)
	}
	return list
}

// received is a parsed response.
type received struct {
	Model, Text, Finish string
	Calls               []call
}

type call struct{ ID, Name, Args string }

func hearChat(t *testing.T, body string) received {
	t.Helper()
	var h received
	list := events(t, body)
	if list[len(list)-1] != "[DONE]" {
		t.Fatalf("the last event is %q", list[len(list)-1])
	}
	for _, data := range list[:len(list)-1] {
		var chunk struct {
			Model   string
			Choices []struct {
				Delta struct {
					Content   string
					ToolCalls []struct {
						Index    int
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		h.Model = chunk.Model
		for _, c := range chunk.Choices {
			h.Text += c.Delta.Content
			h.Finish += c.FinishReason
			for _, tc := range c.Delta.ToolCalls {
				if tc.Index == len(h.Calls) {
					h.Calls = append(h.Calls, call{ID: tc.ID, Name: tc.Function.Name})
				}
				h.Calls[tc.Index].Args += tc.Function.Arguments
			}
		}
	}
	return h
}

func hearAnthropic(t *testing.T, body string) received {
	t.Helper()
	var h received
	for _, frame := range strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(frame, "\ndata: ")
		var ev struct {
			Type    string
			Message struct{ Model string }
			Block   struct{ Type, ID, Name string } `json:"content_block"`
			Delta   struct {
				Text, PartialJSON string
				Partial           string `json:"partial_json"`
				StopReason        string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if name != "event: "+ev.Type {
			t.Fatalf("event %q has type %q", name, ev.Type)
		}
		h.Model += ev.Message.Model
		h.Text += ev.Delta.Text
		h.Finish += ev.Delta.StopReason
		if ev.Block.Type == "tool_use" {
			h.Calls = append(h.Calls, call{ID: ev.Block.ID, Name: ev.Block.Name})
		}
		if ev.Delta.Partial != "" {
			h.Calls[len(h.Calls)-1].Args += ev.Delta.Partial
		}
	}
	return h
}

const (
	chatPath      = "/v1/chat/completions"
	anthropicPath = "/v1/messages"
)

// Proves S45: a scenario advances with the history, and its name is the model of the response.
func TestScenarioAdvancesAndNamesItself(t *testing.T) {
	c := upstream(t, replay.Options{})
	messages := `{"role":"user","content":"go"}`
	var tools []string
	for step := 0; ; step++ {
		res, body := post(t, c, chatPath, `{"model":"gpt-whatever","stream":true,"messages":[`+messages+`]}`)
		if got := res.Header.Get("X-Stopgate-Upstream"); got != "replay" {
			t.Fatalf("X-Stopgate-Upstream is %q", got)
		}
		chat := hearChat(t, body)
		_, body = post(t, c, anthropicPath, `{"model":"stopgate-demo","stream":true,"max_tokens":9,"messages":[`+messages+`]}`)
		anthropic := hearAnthropic(t, body)
		if chat.Model != "stopgate-demo" || anthropic.Model != "stopgate-demo" {
			t.Fatalf("models are %q and %q", chat.Model, anthropic.Model)
		}
		if chat.Text != anthropic.Text || len(chat.Calls) != len(anthropic.Calls) {
			t.Fatalf("step %d: the dialects differ: %+v and %+v", step, chat, anthropic)
		}
		for i := range chat.Calls {
			if chat.Calls[i].Name != anthropic.Calls[i].Name || chat.Calls[i].Args != anthropic.Calls[i].Args {
				t.Fatalf("step %d: call %d differs", step, i)
			}
			if !json.Valid([]byte(chat.Calls[i].Args)) {
				t.Fatalf("step %d: arguments are not JSON: %s", step, chat.Calls[i].Args)
			}
			tools = append(tools, chat.Calls[i].Name)
		}
		if len(chat.Calls) == 0 {
			if chat.Finish != "stop" || anthropic.Finish != "end_turn" {
				t.Fatalf("finish is %q and %q", chat.Finish, anthropic.Finish)
			}
			break
		}
		if chat.Finish != "tool_calls" || anthropic.Finish != "tool_use" {
			t.Fatalf("finish is %q and %q", chat.Finish, anthropic.Finish)
		}
		messages += `,{"role":"assistant","content":"..."},{"role":"tool","content":"ok"},{"role":"tool","content":"ok"}`
	}
	want := "fs_read_file fs_read_file fs_modify_file fs_create_file fs_create_file run_command run_command"
	if got := strings.Join(tools, " "); got != want {
		t.Errorf("tools in order: %s, want %s", got, want)
	}
	_, body := post(t, c, chatPath, `{"model":"stopgate-demo","stream":true,"messages":[`+strings.Repeat(`{"role":"assistant"},`, 40)+messages+`]}`)
	if h := hearChat(t, body); len(h.Calls) != 0 || h.Finish != "stop" {
		t.Errorf("after the end of the script: %+v", h)
	}
}

// Proves W49 for the provider: both forms of a response contain the same calls.
func TestBodyEqualsStream(t *testing.T) {
	c := upstream(t, replay.Options{})
	_, stream := post(t, c, chatPath, `{"model":"stopgate-demo","stream":true,"messages":[]}`)
	_, whole := post(t, c, chatPath, `{"model":"stopgate-demo","messages":[]}`)
	var chat struct {
		Choices []struct {
			Message struct {
				Content   string
				ToolCalls []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		Usage struct {
			CompletionTokens int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(whole), &chat); err != nil {
		t.Fatal(err)
	}
	h, m := hearChat(t, stream), chat.Choices[0].Message
	if m.Content != h.Text || len(m.ToolCalls) != 2 || chat.Usage.CompletionTokens == 0 {
		t.Fatalf("whole: %s", whole)
	}
	for i, tc := range m.ToolCalls {
		if (call{tc.ID, tc.Function.Name, tc.Function.Arguments}) != h.Calls[i] {
			t.Errorf("call %d: %+v, streamed %+v", i, tc, h.Calls[i])
		}
	}

	_, stream = post(t, c, anthropicPath, `{"model":"stopgate-demo","stream":true,"messages":[]}`)
	_, whole = post(t, c, anthropicPath, `{"model":"stopgate-demo","messages":[]}`)
	var msg struct {
		Content []struct {
			Type, Text, ID, Name string
			Input                json.RawMessage
		}
		StopReason string `json:"stop_reason"`
	}
	if err := json.Unmarshal([]byte(whole), &msg); err != nil {
		t.Fatal(err)
	}
	h = hearAnthropic(t, stream)
	if len(msg.Content) != 3 || msg.Content[0].Text != h.Text || msg.StopReason != h.Finish {
		t.Fatalf("whole: %s", whole)
	}
	for i, b := range msg.Content[1:] {
		if (call{b.ID, b.Name, string(b.Input)}) != h.Calls[i] {
			t.Errorf("block %d: %+v, streamed %+v", i, b, h.Calls[i])
		}
	}
}

func TestUsageOnlyIfAsked(t *testing.T) {
	c := upstream(t, replay.Options{})
	_, body := post(t, c, chatPath, `{"stream":true,"messages":[]}`)
	if strings.Contains(body, "usage") {
		t.Error("usage without include_usage")
	}
	_, body = post(t, c, chatPath, `{"stream":true,"stream_options":{"include_usage":true},"messages":[]}`)
	list := events(t, body)
	if !strings.Contains(list[len(list)-2], `"choices":[],"usage":{`) {
		t.Errorf("the event before the last is %s", list[len(list)-2])
	}
}

// pieceSizes are the bytes per event of recorded streams of real models, between the quartiles: 2-6
// (Chat) and 3-22 (Anthropic).
func TestPiecesHaveRealSizes(t *testing.T) {
	c := upstream(t, replay.Options{})
	_, body := post(t, c, chatPath, `{"model":"stopgate-denied","stream":true,"messages":[]}`)
	chat := hearChat(t, body)
	perEvent := float64(len(chat.Calls[0].Args)) / float64(strings.Count(body, `"arguments":"`)-1)
	if perEvent < 2 || perEvent > 6 {
		t.Errorf("Chat: %.1f bytes per event", perEvent)
	}
	_, body = post(t, c, anthropicPath, `{"model":"stopgate-denied","stream":true,"messages":[]}`)
	perEvent = float64(len(chat.Calls[0].Args)) / float64(strings.Count(body, `"partial_json":"`)-1)
	if perEvent < 3 || perEvent > 22 {
		t.Errorf("Anthropic: %.1f bytes per event", perEvent)
	}
	if !strings.HasPrefix(chat.Calls[0].Args, `{"path":".env`) {
		t.Errorf("the path does not come first: %.40s", chat.Calls[0].Args)
	}
}

func TestPace(t *testing.T) {
	var slept time.Duration
	c := upstream(t, replay.Options{TokensPerSecond: 100, FirstToken: time.Second, Sleep: func(_ context.Context, d time.Duration) error {
		slept += d
		return nil
	}})
	_, body := post(t, c, chatPath, `{"model":"stopgate-text","stream":true,"messages":[]}`)
	tokens := strings.Count(body, `{"content":"`)
	if want := time.Second + time.Duration(tokens)*10*time.Millisecond; slept != want {
		t.Errorf("%d tokens took %v, want %v", tokens, slept, want)
	}
	slept = 0
	_, body = post(t, c, chatPath, `{"model":"stopgate-text","messages":[]}`)
	if slept < 2*time.Second || slept > 20*time.Second {
		t.Errorf("a whole answer of %d bytes took %v", len(body), slept)
	}
}

// Proves FM7 for the provider: a client that goes away stops the generation, and the report
// contains the number of bytes that were not generated.
func TestCancelIsReported(t *testing.T) {
	for _, way := range []string{"close body", "cancel request"} {
		t.Run(way, func(t *testing.T) {
			ended := make(chan replay.Report, 1)
			u, err := replay.New(replay.Options{Ended: func(r replay.Report) { ended <- r }})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://replay"+chatPath, strings.NewReader(`{"model":"stopgate-denied","stream":true,"messages":[]}`))
			res, err := replay.Transport(u).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(res.Body)
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(line, `"function":{"arguments"`) {
					break
				}
			}
			if way == "close body" {
				res.Body.Close()
			} else {
				cancel()
			}
			r := <-ended
			if !r.Cancelled || r.Generated > 200 || r.Total < 100_000 || r.Source != "stopgate-denied" || r.Dialect != "openai-chat" {
				t.Errorf("report: %+v", r)
			}
			res.Body.Close()
		})
	}
	ended := make(chan replay.Report, 1)
	c := upstream(t, replay.Options{Ended: func(r replay.Report) { ended <- r }})
	post(t, c, anthropicPath, `{"model":"stopgate-denied","stream":true,"messages":[]}`)
	if r := <-ended; r.Cancelled || r.Generated != r.Total {
		t.Errorf("a complete answer is reported as %+v", r)
	}
}

// Proves FM7 for the provider over a real socket.
func TestCancelOverSocket(t *testing.T) {
	ended := make(chan replay.Report, 1)
	u, err := replay.New(replay.Options{TokensPerSecond: 1000, Ended: func(r replay.Report) { ended <- r }})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(u)
	defer srv.Close()
	res, err := srv.Client().Post(srv.URL+anthropicPath, "application/json", strings.NewReader(`{"model":"stopgate-denied","stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 512)); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	select {
	case r := <-ended:
		if !r.Cancelled || r.Generated >= r.Total/2 {
			t.Errorf("report: %+v", r)
		}
	case <-time.After(time.Minute):
		t.Fatal("the provider did not notice that the client went away")
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	c := upstream(t, replay.Options{})
	for _, test := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"not JSON", chatPath, `{`, 400, `{"error":{"message":"the request body is not`},
		{"not JSON, Anthropic", anthropicPath, `[]`, 400, `{"type":"error","error":{"message":"the request body is not`},
		{"unknown route", "/v1/responses/resp_1", `{}`, 404, `not_found_error`},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, body := post(t, c, test.path, test.body)
			if res.StatusCode != test.status || !strings.Contains(body, test.want) || !json.Valid([]byte(body)) {
				t.Errorf("%d %s", res.StatusCode, body)
			}
		})
	}
	res, err := c.Get("http://replay" + chatPath)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 405 {
		t.Errorf("GET: %d", res.StatusCode)
	}
	res, err = c.Get("http://replay/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil || len(list.Data) != 3 || list.Data[0].ID != "stopgate-demo" {
		t.Errorf("models: %+v, %v", list, err)
	}
	if _, err := replay.New(replay.Options{Scenarios: []*replay.Scenario{}}); err == nil {
		t.Error("a provider with nothing to play")
	}
}

func TestTransportOfAFailingHandler(t *testing.T) {
	c := &http.Client{Transport: replay.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begun")
		panic("broken")
	}))}
	res, err := c.Get("http://replay/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err == nil || string(text) != "begun" {
		t.Errorf("read %q, %v", text, err)
	}

	entered := make(chan struct{})
	var once sync.Once
	c = &http.Client{Transport: replay.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(entered) })
		<-r.Context().Done()
	}))}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	req, _ := http.NewRequestWithContext(ctx, "GET", "http://replay/", nil)
	if _, err := c.Do(req); !errors.Is(err, context.Canceled) {
		t.Errorf("a handler that never answers: %v", err)
	}
}
