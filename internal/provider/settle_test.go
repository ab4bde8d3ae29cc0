package provider_test

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves F19, A1: a call that is not explicitly allowed is denied: without an outcome, with
// two different ones, without arguments or without a text.
func TestSettle(t *testing.T) {
	allowed := func(call int) bool { return call != 5 }
	args, texts := provider.Settle(7, []provider.CallOutcome{
		{Call: 0, Allowed: true, Args: []byte(`{}`)},
		{Call: 1, Text: "no", Args: []byte(`{}`)},
		{Call: 3, Allowed: true, Args: []byte(`{}`)}, {Call: 3, Text: "no"},
		{Call: 4, Allowed: true},
		{Call: 5, Allowed: true, Args: []byte(`{}`)},
		{Call: 6},
		{Call: 7, Allowed: true, Args: []byte(`{}`)}, {Call: -1, Allowed: true, Args: []byte(`{}`)},
	}, allowed)
	fallback := provider.DenialText("", false, "", stopgate.CodePolicyError)
	want := []string{"", "no", fallback, "no", fallback, fallback, fallback}
	if !slices.Equal(texts, want) {
		t.Errorf("texts %q, want %q", texts, want)
	}
	for i, a := range args {
		if (len(a) > 0) != (i == 0) {
			t.Errorf("call %d: arguments %q", i, a)
		}
	}
}

// Proves G2-15: a denial without a public text has the text of its code.
func TestDenialEnvelope(t *testing.T) {
	for _, c := range []struct {
		code         stopgate.Code
		public, want string
	}{
		{stopgate.CodeNoApprover, "", `{"status":"denied","code":"no_approver","publicReason":"` + stopgate.CodeNoApprover.Public() + `","data":null}`},
		{"frozen", `Not "now".`, `{"status":"denied","code":"frozen","publicReason":"Not \"now\".","data":null}`},
	} {
		if got := provider.DenialEnvelope(c.code, c.public); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// Conversations with the same texts in other roles, or split at other positions, have
// different hashes.
func TestHintsDistinguishRoles(t *testing.T) {
	hints := func(texts ...string) provider.Hints {
		var s provider.HistoryHash
		for i, text := range texts {
			v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if i < len(texts)-1 {
				s.System(v)
			} else {
				s.User(v)
			}
		}
		return s.Hints("")
	}
	seen := map[string]string{}
	for _, texts := range [][]string{{`"a"`, `"b"`}, {`"ab"`}, {`""`, `"ab"`}, {`"a"`, `""`, `"b"`}, {`[{"text":"a"},{"text":"b"}]`}, {`[{"text":"user"},{"text":"b"}]`}, {`["user"]`, `"b"`}} {
		h := hints(texts...)
		if other, taken := seen[h.OpeningHash]; taken {
			t.Errorf("%q opens as %q does", texts, other)
		}
		seen[h.OpeningHash] = texts[0]
	}
}
