package sdk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/interop/gate"
)

// answering is the policy under which a model hears of a refusal in the course of its
// answer.
const answering = policy + `
[gateway]
on_deny = "answer"
`

// thinking puts thoughts in front of an answer: blocks with a signature, or items that
// only the provider can read.
func thinking(s *script, n int) *script {
	t := *s
	if s.api == "messages" {
		block := fmt.Sprintf(`{"type":"thinking","thinking":"hm %d","signature":"sig%d"}`, n, n)
		t.whole = strings.Replace(s.whole, `"content":[`, `"content":[`+block+`,`, 1)
		t.events = []string{s.events[0], blockStart(0, `{"type":"thinking","thinking":"","signature":""}`),
			blockDelta(0, fmt.Sprintf(`"type":"thinking_delta","thinking":"hm %d"`, n)), blockDelta(0, fmt.Sprintf(`"type":"signature_delta","signature":"sig%d"`, n)), blockStop(0)}
		for _, e := range s.events[1:] {
			for i := 8; i >= 0; i-- {
				e = strings.Replace(e, fmt.Sprintf(`"index":%d`, i), fmt.Sprintf(`"index":%d`, i+1), 1)
			}
			t.events = append(t.events, e)
		}
		return &t
	}
	item := fmt.Sprintf(`{"id":"rs_%d","type":"reasoning","summary":[],"encrypted_content":"gAAA%d"}`, n, n)
	t.whole = strings.Replace(s.whole, `"output":[`, `"output":[`+item+`,`, 1)
	var r responses
	r.begin()
	for _, kind := range []string{"response.output_item.added", "response.output_item.done"} {
		r.add(kind, `"output_index":0,"item":`+item)
	}
	r.index++
	r.message(preamble)
	for _, c := range s.said {
		r.call(c)
	}
	r.add("response.completed", `"response":`+t.whole)
	t.events = r.list
	return &t
}

// answerCases are models that are refused, hear of it, and go on.
func answerCases(api string) (list []testCase) {
	add := func(name string, think bool, survive []toolCall, texts []string, rounds ...[]toolCall) {
		s := &script{api: api}
		for i, calls := range rounds {
			round := say(api, preamble, calls...)
			if think {
				round = thinking(round, i)
			}
			if api == "responses" { // a provider gives no id twice
				own := fmt.Sprintf("msg_1%d", i)
				round.whole = strings.ReplaceAll(round.whole, "msg_1", own)
				for k := range round.events {
					round.events[k] = strings.ReplaceAll(round.events[k], "msg_1", own)
				}
			}
			s.rounds = append(s.rounds, round)
		}
		first, last := s.rounds[0], s.rounds[len(s.rounds)-1]
		s.whole, s.said = first.whole, last.said
		finish := finishes[api][0]
		if len(survive) == 0 {
			finish = finishes[api][1]
		}
		w := want{texts: texts, calls: survive, finish: finish, tokens: 42 * len(rounds)}
		list = append(list, testCase{name: api + "-" + name, script: s, want: w})
	}
	seen := func(denied ...string) (texts []string) {
		for _, d := range append(denied, "") {
			texts = append(texts, preamble)
			if d != "" && api == "responses" {
				texts = append(texts, refused(d))
			}
		}
		return texts
	}
	for _, think := range []bool{false, true} {
		name := "answer"
		if think {
			if name = "answer-thinking"; api == "chat" {
				continue
			}
		}
		add(name+"-once", think, []toolCall{callC}, seen("a"), []toolCall{badA}, []toolCall{callC})
		add(name+"-twice", think, []toolCall{callC}, seen("a", "b"), []toolCall{badA}, []toolCall{badB}, []toolCall{callC})
		add(name+"-text", think, nil, seen("a"), []toolCall{badA}, nil)
		add(name+"-end", think, nil, append(seen("a", "b"), refused("c")), []toolCall{badA}, []toolCall{badB}, []toolCall{badC})
		add(name+"-some", think, []toolCall{callB}, append(seen(), refused("a")), []toolCall{badA, callB})
	}
	return list
}

// Proves S6, S7, W47: a model that is answered in the course of its response: every
// library shows one response with the texts of all rounds and the calls that may run,
// and sends back a history that the provider takes.
func TestAnswers(t *testing.T) {
	scripts := map[string]*script{}
	cases := map[string][]testCase{}
	for _, api := range []string{"chat", "responses", "messages"} {
		cases[api] = answerCases(api)
		for _, c := range cases[api] {
			scripts[c.name] = c.script
		}
	}
	p := newProvider(t, scripts)
	g := gate.Up(t, gate.Build(t), p.URL, answering, "ANNA_TOKEN="+token)
	g.Trace("answers")
	t.Run("group", func(t *testing.T) {
		for _, cl := range clients(t) {
			t.Run(cl.name+"/"+cl.kind, func(t *testing.T) {
				t.Parallel()
				for _, c := range cases[cl.api] {
					cl.judge(t, g.URL, c)
				}
			})
		}
	})
}
