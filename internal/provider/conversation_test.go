package provider_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
)

// textHash returns the hash of all texts of a request of Anthropic.
func textHash(t *testing.T, messages string) string {
	t.Helper()
	r, err := anthropic.Dialect{}.Request([]byte(`{"messages":[` + messages + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for i := range r.Texts {
		r.Texts[i].Hash(h, r.History)
	}
	return string(h.Sum(nil))
}

// Texts with the same hash are the same text: no other text takes the place of one that was added.
// Marks of caches, which clients move, do not change it.
func TestTextHash(t *testing.T) {
	const call = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{"a":1}}]},`
	const base = `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},` + call + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r"}]}]}`
	hash := textHash(t, base)
	for _, change := range [][2]string{
		{`"text":"a"}`, `"text":"a","cache_control":{"type":"ephemeral"}}`}, {`"text":"r"}`, `"text":"r","cache_control":{"type":"ephemeral"}}`},
	} {
		if textHash(t, strings.Replace(base, change[0], change[1], 1)) != hash {
			t.Errorf("%s changes the hash", change[1])
		}
	}
	seen := map[string]string{hash: ""}
	for _, change := range [][2]string{
		{`"a"`, `"c"`}, {`"a"},{"type":"text","text":"b"`, `"ab"`}, {`"r"`, `"s"`}, {`"t1","name":"n"`, `"t1","name":"m"`}, {`{"a":1}`, `{"a":2}`}, {`"t1"`, `"t2"`},
		{`"text","text":"a"`, `"future","text":"a"`}, {`"content":[{"type":"text","text":"r"}]`, `"is_error":true,"content":[{"type":"text","text":"r"}]`},
		{`"role":"user","content":[{"type":"text"`, `"role":"system","content":[{"type":"text"`}, {`{"type":"text","text":"r"}`, `{"type":"text","text":"r"},{"type":"text","text":""}`},
	} {
		got := textHash(t, strings.ReplaceAll(base, change[0], change[1]))
		if was, known := seen[got]; known {
			t.Errorf("%q and %q have the same hash", change[1], was)
		}
		seen[got] = change[1]
	}
}

// Content is text where the model reads text. Media, references and encrypted content are opaque.
func TestReadContent(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`: "a", `null`: "null", `7`: "7", `{"a":"b"}`: `{"a":"b"}`, `[{"a":"b"}]`: `[{"a":"b"}]`, `["a"]`: `["a"]`, `[]`: "",
		`[{"type":"text","text":"a"}]`:                                              "a",
		`{"type":"text","text":"a"}`:                                                "a",
		`[{"type":"text","text":"a"},{"type":"image","source":{"data":"x"}}]`:       "a+",
		`[{"type":"resource","resource":{"uri":"u","text":"t","mimeType":"m"}}]`:    "u\nt",
		`[{"type":"document","source":{"type":"file","file_id":"f"}}]`:              "+",
		`[{"type":"web_search_result","title":"t","encrypted_content":"e"}]`:        "t+",
		`[{"type":"text","text":["a","b"]}]`:                                        "a\nb",
		`[{"type":"text","text":"a"},{"text":"b"}]`:                                 `[{"type":"text","text":"a"},{"text":"b"}]`,
		`{"type":"computer_screenshot","image_url":"data:x"}`:                       "+",
		`[{"type":"x","a":{"b":[{"c":"d"}]},"n":7,"flag":true,"cache_control":{}}]`: "d\n7",
	} {
		text, opaque := provider.ReadContent(value(t, in))
		got := string(text)
		if opaque {
			got += "+"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
