package chain_test

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

func redaction(t interface{ Fatal(...any) }, o events.Redaction) events.Policy {
	p, err := events.Redact(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// chatOf returns a stream with a text in chunks.
func chatOf(pieces ...string) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(`data: {"choices":[{"index":0,"delta":{"content":` + quote(p) + "}}]}\n\n")
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return b.String()
}

// Proves V3-05: a redaction finds matches across chunks, and buffers nothing else.
func TestRedact(t *testing.T) {
	keys := events.Redaction{Patterns: []string{`sk-[A-Za-z0-9]{8,}`, `\d{4} \d{4}`}}
	for _, c := range []struct {
		name   string
		o      events.Redaction
		pieces []string
		want   string
	}{
		{"in one piece", keys, []string{"key sk-12345678 ok"}, "key [redacted] ok"},
		{"in many", keys, []string{"key s", "k", "-", "1234", "5678", "9", " ok"}, "key [redacted] ok"},
		{"nearly", keys, []string{"key s", "k-12345", " ok sk", "y"}, "key sk-12345 ok sky"},
		{"a match may begin inside of what is none", keys, []string{"sk-sk-1234", "5678"}, "sk-[redacted]"},
		{"at the end", keys, []string{"x sk-1234567", "8"}, "x [redacted]"},
		{"the end of something that is none", keys, []string{"x sk-1234567"}, "x sk-1234567"},
		{"two", keys, []string{"sk-12345678,1234 5678"}, "[redacted],[redacted]"},
		{"the longest", events.Redaction{Patterns: []string{"ab", "abc"}}, []string{"a", "b", "c", "d"}, "[redacted]d"},
		{"the leftmost", events.Redaction{Patterns: []string{"bcd", "abc"}}, []string{"ab", "cd"}, "[redacted]d"},
		{"other words", events.Redaction{Patterns: []string{"ä+é"}, Replacement: "—"}, []string{"xää", "é y"}, "x— y"},
		{"at most so long", events.Redaction{Patterns: []string{"a+"}, Longest: 4}, []string{"aaaaaa", "aaa", "b"}, "[redacted][redacted][redacted]b"},
		{"too long to be found", events.Redaction{Patterns: []string{"a+b"}, Longest: 3}, []string{"aaaa", "ab"}, "aaa[redacted]"},
	} {
		got := tell(t, "openai-chat", through(t, chained(t, redaction(t, c.o)), "openai-chat", chatOf(c.pieces...)))
		if got.texts["choice 0"] != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.texts["choice 0"], c.want)
		}
	}
}

// Text that cannot be part of a match is forwarded at once.
func TestRedactBuffersLittle(t *testing.T) {
	run := chained(t, redaction(t, events.Redaction{Patterns: []string{`sk-\w{8,}`}})).Begin(chain.Setup{Exchange: events.Exchange{Dialect: "openai-chat"}})
	in, feed := io.Pipe()
	r := run.Reader(t.Context(), in)
	for _, step := range []struct{ piece, want string }{{"Hello", "Hello"}, {" wor", " wor"}, {"ld s", "ld "}, {"o", "so"}, {" sk-1", " "}, {" x", "sk-1 x"}} {
		event := `data: {"choices":[{"index":0,"delta":{"content":` + quote(step.piece) + "}}]}\n\n"
		go io.WriteString(feed, event)
		buf := make([]byte, 4096)
		n, err := r.Read(buf)
		if got := tell(t, "openai-chat", string(buf[:n])).texts["choice 0"]; err != nil || got != step.want {
			t.Errorf("%q gives %q, want %q", step.piece, got, step.want)
		}
	}
}

// Proves V3-05, I2: the matches do not depend on the chunks of a text, and are those of a second
// matcher in the whole text.
func TestRedactIsIndependentOfChunks(t *testing.T) {
	patterns := []string{`sk-[a-c]{3,}`, `[abc]{2}-?k`, `a+b`, `s\.?k`, `kä+`}
	oracle := regexp.MustCompile(strings.Join(patterns, "|"))
	oracle.Longest()
	c := chained(t, redaction(t, events.Redaction{Patterns: patterns, Replacement: "#"}))
	property.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abcsk-.ä ")), 0, 60, -1).Draw(t, "text")
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		run := c.Begin(chain.Setup{Exchange: events.Exchange{Dialect: "openai-chat"}})
		out, err := io.ReadAll(run.Reader(t.Context(), strings.NewReader(chatOf(pieces...))))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := tellChat(string(out)), oracle.ReplaceAllLiteralString(text, "#"); got != want {
			t.Fatalf("%q in %d pieces: %q, want %q", text, len(pieces), got, want)
		}
	})
}

// Proves V3-11, S12: a redaction of requests finds results of tools and all other texts, and
// changes nothing else.
func TestRedactRequests(t *testing.T) {
	const body = `{"model":"sk-12345678", "messages":[{"role":"user","content":"my key sk-12345678"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"sk-12345678","type":"function","function":{"name":"sk-12345678","arguments":"{\"k\":\"sk-12345678\"}"}}]},` +
		`{"role":"tool","tool_call_id":"sk-12345678","content":[{"type":"text","text":"sk-87654321 found"}]}],"system":[{"type":"text","text":"sk-aaaaaaaaa"}],"n":1.0}`
	want := strings.NewReplacer(`key sk-12345678`, `key [redacted]`, `\"sk-12345678\"`, `\"[redacted]\"`, `sk-87654321`, `[redacted]`, `sk-aaaaaaaaa`, `[redacted]`).Replace(body)
	for _, o := range []events.Redaction{{Request: true}, {Request: true, Response: true}} {
		o.Patterns = []string{`sk-\w{8,}`}
		var told []events.Event
		c := chained(t, redaction(t, o))
		run := c.Begin(chain.Setup{Exchange: events.Exchange{ID: "x1", Dialect: "openai-chat", Publish: func(e events.Event) { told = append(told, e) }}})
		got, err := run.Request(t.Context(), []byte(body))
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
		if len(told) != 1 || told[0].Details["matches"] != 4 || told[0].Exchange != "x1" || told[0].Policy != "redact" {
			t.Errorf("%+v", told)
		}
		text := tellChat(throughRun(t, run, chatOf("sk-12345678")))
		if (text == "[redacted]") != o.Response {
			t.Errorf("the response says %q", text)
		}
	}
	run := chained(t, redaction(t, events.Redaction{Request: true, Patterns: []string{"x"}})).Begin(chain.Setup{})
	if _, err := run.Request(t.Context(), []byte("{")); err == nil {
		t.Error("a request that is none was redacted")
	}
}

// A redaction that cannot be guaranteed is refused at creation.
func TestInvalidRedactions(t *testing.T) {
	for _, o := range []events.Redaction{
		{}, {Patterns: []string{""}}, {Patterns: []string{"a*"}}, {Patterns: []string{"("}}, {Patterns: []string{"a", "b|"}},
		{Patterns: []string{"^a"}}, {Patterns: []string{"a$"}}, {Patterns: []string{`\ba`}}, {Patterns: []string{`a\B`}},
		{Patterns: []string{"(?=a)b"}}, {Patterns: []string{"a(?!b)"}}, {Patterns: []string{"(?<=a)b"}}, {Patterns: []string{"(?<!a)b"}}, {Patterns: []string{`(a)\1`}},
		{Patterns: []string{"a"}, Longest: -1}, {Patterns: []string{"a"}, Longest: 5000},
	} {
		if p, err := events.Redact(o); err == nil || p != nil {
			t.Errorf("%+v is no mistake", o)
		}
	}
	for _, pattern := range []string{`[$^\b]`, `\$\^`, `(?:a|b)`, `(?<name>a)`, `(?i:a)`} {
		if _, err := events.Redact(events.Redaction{Patterns: []string{pattern}}); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
