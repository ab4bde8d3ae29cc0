package main

import (
	"strings"
	"testing"
)

// The scene goes as its comments say: policies of the file, a tool policy, a handoff
// policy, a session policy of one's own.
func TestScene(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	want := `refund   prerequisite_missing: Call lookup first with the same /order; it must have succeeded.
lookup   -> {"order":"A-17","total":80}
refund   -> {"status":"ok"}
refund   session_policy_denied: The limit of 100 in all within 24h would be exceeded; try again later.
mail     outside: Mail goes to example.com only.
mail     -> {"sent":true}
to billing  with {"order":"A-17"}
to legal    closed: The legal desk is closed.
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
