package sdk

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/interop/gate"
)

// slow is how long a person thinks: longer than the first sign of life that a held
// response gives its client.
const slow = 7 * time.Second

// person answers every question on the decision API after a while.
type person struct {
	http http.Client
	last map[string]bool // answered
}

func newPerson(t *testing.T, g *gate.Gate) *person {
	p := &person{last: map[string]bool{}}
	p.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", g.Socket)
	}}
	ctx, cancel := context.WithCancel(context.Background())
	watching := make(chan struct{})
	ended := make(chan error, 1)
	go func() { ended <- p.watch(ctx, watching) }()
	<-watching
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	return p
}

func (p *person) do(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://stopgate"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	return p.http.Do(r)
}

// watch reads the open questions as they change.
func (p *person) watch(ctx context.Context, watching chan<- struct{}) error {
	res, err := p.do(ctx, "GET", "/v1/approvals/watch", "")
	close(watching)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var list struct{ Approvals []struct{ ID string } }
		if err := json.Unmarshal(lines.Bytes(), &list); err != nil {
			return err
		}
		for _, a := range list.Approvals {
			if p.last[a.ID] {
				continue
			}
			p.last[a.ID] = true
			time.AfterFunc(slow, func() {
				if res, err := p.do(ctx, "POST", "/v1/approvals/"+a.ID, `{"answer":"approve"}`); err == nil {
					res.Body.Close()
				}
			})
		}
	}
	return lines.Err()
}

// Proves W20: a call that a person approves after some time reaches every library
// as if nothing had happened, streamed and not; W6: a refusal stops a provider
// that would go on for ever, and the library sees a legal end.
func TestPeopleAndEndlessCalls(t *testing.T) {
	scripts := map[string]*script{}
	content := strings.Repeat("x", 1000)
	scripts["endless-chat"] = &script{api: "chat", endless: true, events: append(chatText(preamble),
		callDelta(`"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":"{\"path\":\"denied\",\"more\":\""}`),
		callDelta(`"index":0,"function":{"arguments":"`+content+`"}`))}
	scripts["endless-messages"] = &script{api: "messages", endless: true, events: append(append([]string{messageStart()}, textBlock(0, preamble)...),
		toolStart(1, badA), inputDelta(1, `{"path":"denied","more":"`), inputDelta(1, content))}
	var r responses
	r.begin()
	r.message(preamble)
	r.callBegins(badA)
	r.callDelta(badA, `{"path":"denied","more":"`)
	r.callDelta(badA, content)
	scripts["endless-responses"] = &script{api: "responses", endless: true, events: r.list}
	p := newProvider(t, scripts)
	g := gate.Up(t, gate.Build(t), p.URL, policy+"\n[limits]\nread_on_bytes = 1000000\n", "ANNA_TOKEN="+token)
	newPerson(t, g)
	t.Run("group", func(t *testing.T) {
		for _, cl := range clients(t) {
			for _, stream := range []bool{true, false} {
				// A call of its own for each: a yes is for one call, whoever repeats it.
				name := fmt.Sprintf("asked-%s-%s-%t", cl.name, cl.kind, stream)
				call := toolCall{"call_a", "a", `{"path":"` + name + `"}`}
				asked := testCase{name: name, want: want{texts: []string{preamble}, calls: []toolCall{call}, finish: finishes[cl.api][0], tokens: 42}}
				p.add(name, say(cl.api, preamble, call))
				t.Run(fmt.Sprintf("asked/%s/%s/%t", cl.name, cl.kind, stream), func(t *testing.T) {
					t.Parallel()
					start := time.Now()
					j := job{Client: cl.kind, Base: g.URL, Model: name, Stream: stream}
					cl.compare(t, asked, cl.library.do(t, j), j)
					if took := time.Since(start); took < slow {
						t.Errorf("it took %v, nobody can have answered", took)
					}
				})
			}
			t.Run(fmt.Sprintf("endless/%s/%s", cl.name, cl.kind), func(t *testing.T) {
				t.Parallel()
				c := testCase{name: "endless-" + cl.api, want: want{texts: []string{preamble, refused("a")}, finish: finishes[cl.api][1]}}
				model := c.name + "/" + cl.name + cl.kind
				left := p.leaves(model)
				j := job{Client: cl.kind, Base: g.URL, Model: model, Stream: true}
				cl.compare(t, c, cl.library.do(t, j), j)
				<-left
			})
		}
	})
}
