package sdk

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/interop/gate"
)

// client is a library that speaks an API.
type client struct {
	name    string // of the library
	kind    string // of the driver's handler
	api     string
	library library
	// next says that the driver sends the answer back as history.
	next bool
	// finish translates the API's finish; a finish that it has not is not looked at.
	finish map[string]string
}

// ai has one set of finish reasons for all providers.
var aiFinish = map[string]string{"stop": "stop", "end_turn": "stop", "tool_calls": "tool-calls", "tool_use": "tool-calls", "length": "length", "max_tokens": "length"}

func clients(t *testing.T) []client {
	openaiNode, openaiPython := node(t, "openai.mjs"), python(t, "openai_driver.py")
	anthropicNode, anthropicPython := node(t, "anthropic.mjs"), python(t, "anthropic_driver.py")
	ai, chainNode, chainPython := node(t, "ai.mjs"), node(t, "langchain.mjs"), python(t, "langchain_driver.py")
	none := map[string]string{}
	list := []client{
		{"ai-openai-compatible", "compatible", "chat", ai, false, aiFinish},
	}
	for _, l := range []struct {
		name    string
		library library
		apis    []string
		next    bool
		finish  map[string]string
	}{
		{"openai-node", openaiNode, []string{"chat", "responses"}, true, nil},
		{"openai-python", openaiPython, []string{"chat", "responses"}, true, nil},
		{"openai-go", golang{}, []string{"chat", "responses"}, true, nil},
		{"anthropic-node", anthropicNode, []string{"messages"}, true, nil},
		{"anthropic-python", anthropicPython, []string{"messages"}, true, nil},
		{"anthropic-go", golang{}, []string{"messages"}, true, nil},
		{"ai", ai, []string{"chat", "responses", "messages"}, false, aiFinish},
		{"langchain-node", chainNode, []string{"chat", "responses", "messages"}, false, none},
		{"langchain-python", chainPython, []string{"chat", "responses", "messages"}, false, none},
	} {
		for _, api := range l.apis {
			list = append(list, client{l.name, api, api, l.library, l.next, l.finish})
		}
	}
	return list
}

// Proves W1, W2, W3, W4, W5, W24, W25, W26, W40, W41, W42, W49: what programs see
// through the libraries they use.
func TestClients(t *testing.T) {
	scripts := map[string]*script{}
	cases := map[string][]testCase{}
	for _, api := range []string{"chat", "responses", "messages"} {
		cases[api] = allCases(api)
		for _, c := range cases[api] {
			scripts[c.name] = c.script
		}
	}
	p := newProvider(t, scripts)
	g := gate.Up(t, gate.Build(t), p.URL, policy, "ANNA_TOKEN="+token)
	g.Trace("clients")
	t.Run("group", func(t *testing.T) {
		for _, cl := range clients(t) {
			t.Run(cl.name+"/"+cl.kind, func(t *testing.T) {
				t.Parallel()
				for _, c := range cases[cl.api] {
					if c.choices > 0 && !cl.next {
						continue // shows one choice only
					}
					cl.judge(t, g.URL, c)
				}
			})
		}
	})
}

// judge runs a case with every framing, and not streamed.
func (cl client) judge(t *testing.T, base string, c testCase) {
	for _, frame := range []framing{perEvent, atOnce, crlf, perByte} {
		j := job{Client: cl.kind, Base: base, Model: c.name + "/" + string(frame), Stream: true, Choices: c.choices}
		j.Next = cl.following(c)
		t.Run(fmt.Sprintf("%s/%s", c.name, frame), func(t *testing.T) { cl.compare(t, c, cl.library.do(t, j), j) })
		if frame == perEvent && j.Next != "" && cl.api == "responses" {
			j.Continued = true
			t.Run(fmt.Sprintf("%s/%s/continued", c.name, frame), func(t *testing.T) { cl.compare(t, c, cl.library.do(t, j), j) })
		}
	}
	if c.whole == "" {
		return
	}
	j := job{Client: cl.kind, Base: base, Model: c.name, Choices: c.choices}
	j.Next = cl.following(c)
	t.Run(c.name+"/whole", func(t *testing.T) { cl.compare(t, c, cl.library.do(t, j), j) })
}

// following is the model of the next turn, "" if the case has none.
func (cl client) following(c testCase) string {
	if !cl.next || c.err || c.loose || c.once || slices.Contains(c.raises, cl.name) {
		return ""
	}
	return c.name + "+next"
}

func (cl client) compare(t *testing.T, c testCase, a answer, j job) {
	t.Helper()
	c.loose = c.loose || slices.Contains(c.raises, cl.name)
	allowed := map[string]bool{"web_search": slices.Contains(c.shows, cl.name)}
	for _, call := range c.want.calls {
		allowed[call.Name] = true
	}
	for _, name := range a.Seen {
		if !allowed[name] {
			t.Errorf("an event showed the call %q, which must not be seen", name)
		}
	}
	if (a.Error != "") != c.err && !c.loose {
		t.Errorf("error %q, want one: %t", a.Error, c.err)
	}
	if a.Error != "" || c.err {
		if len(a.Calls) > 0 {
			t.Errorf("calls with an error: %v", a.Calls)
		}
		return
	}
	if !sameCalls(a.Calls, c.want.calls) {
		t.Errorf("calls\n\t%v\nwant\n\t%v", a.Calls, c.want.calls)
	}
	rest := a.Text
	for _, text := range c.texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("text %q lacks %q (in this order)", a.Text, text)
		}
		rest = after
	}
	want := c.want.finish
	if cl.finish != nil {
		want = cl.finish[want]
	}
	if want != "" && a.Finish != want {
		t.Errorf("finish %q, want %q", a.Finish, want)
	}
	if c.tokens > 0 && a.Tokens != nil && *a.Tokens != c.tokens {
		t.Errorf("%d tokens, want %d", *a.Tokens, c.tokens)
	}
	if j.Next != "" && a.Next != "accepted" {
		t.Errorf("the next turn was answered %q", a.Next)
	}
}

// sameCalls compares arguments as values.
func sameCalls(got, want []toolCall) bool {
	return slices.EqualFunc(got, want, func(a, b toolCall) bool {
		var x, y any
		return a.ID == b.ID && a.Name == b.Name && json.Unmarshal([]byte(a.Args), &x) == nil && json.Unmarshal([]byte(b.Args), &y) == nil && reflect.DeepEqual(x, y)
	})
}
