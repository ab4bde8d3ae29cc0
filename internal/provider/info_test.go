package provider_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// The counters have the same meaning in all three dialects; later ones replace earlier
// ones.
func TestResponseInfo(t *testing.T) {
	for _, test := range []struct {
		name string
		from []string
		want provider.ResponseInfo
	}{
		{"chat", []string{`{"id":"c1","model":"m"}`, `{"id":"c1","usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`},
			provider.ResponseInfo{Started: true, ID: "c1", Model: "m", Tokens: provider.Tokens{Known: true, Input: 10, Output: 5, CacheRead: 4, Reasoning: 2}}},
		{"responses", []string{`{"id":"r1","model":"m","usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":1}}}`},
			provider.ResponseInfo{Started: true, ID: "r1", Model: "m", Tokens: provider.Tokens{Known: true, Input: 10, Output: 5, Reasoning: 1}}},
		{"anthropic", []string{`{"id":"m1","model":"m","usage":{"input_tokens":10,"cache_read_input_tokens":7,"cache_creation_input_tokens":3,"output_tokens":1}}`, `{"usage":{"output_tokens":9}}`},
			provider.ResponseInfo{Started: true, ID: "m1", Model: "m", Tokens: provider.Tokens{Known: true, Input: 20, Output: 9, CacheRead: 7, CacheCreation: 3}}},
		{"anthropic, counted again", []string{`{"usage":{"input_tokens":10,"cache_read_input_tokens":7}}`, `{"usage":{"input_tokens":11,"cache_read_input_tokens":7,"output_tokens":2}}`},
			provider.ResponseInfo{Started: true, Tokens: provider.Tokens{Known: true, Input: 18, Output: 2, CacheRead: 7}}},
		{"no counters", []string{`{"id":7,"model":null,"usage":{"prompt_tokens":"10","output_tokens":-1,"input_tokens":1e400}}`},
			provider.ResponseInfo{Started: true, Tokens: provider.Tokens{Known: true}}},
		{"no usage", []string{`{"usage":null}`}, provider.ResponseInfo{Started: true}},
	} {
		var a provider.ResponseInfo
		for _, text := range test.from {
			v, err := jsonstream.Parse([]byte(text), jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
			if err != nil {
				t.Fatal(err)
			}
			a.Read(v)
		}
		if !reflect.DeepEqual(a, test.want) {
			t.Errorf("%s: %+v", test.name, a)
		}
	}
	var a provider.ResponseInfo
	long, err := jsonstream.Parse([]byte(`{"id":"`+strings.Repeat("x", 1000)+`","r":"stop","n":null}`), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a.Read(long)
	reason, _ := long.Get("r")
	null, _ := long.Get("n")
	a.AddFinishReason(null)
	for range 100 {
		a.AddFinishReason(reason)
	}
	if len(a.ID) != 128 || len(a.FinishReasons) != 8 || a.FinishReasons[0] != "stop" {
		t.Errorf("not bounded: %d, %q", len(a.ID), a.FinishReasons)
	}
}
