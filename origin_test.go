package stopgate_test

import (
	"testing"

	"github.com/stopgate/stopgate"
)

// People read where a value is from, and where it should be from.
func TestOriginSentences(t *testing.T) {
	for _, c := range []struct {
		origin      stopgate.Origin
		value, want string
	}{
		{stopgate.Origin{Pointer: "/recipients/1", Source: "tool", Tool: "read_email", Call: "call_3", Wanted: []string{"user"}}, "mallory@evil.example",
			"`/recipients/1` = mallory@evil.example: first seen in the result of read_email (call_3), not in what you wrote"},
		{stopgate.Origin{Pointer: "/to", Source: "contacts", Tool: "search", Wanted: []string{"contacts"}, Held: true}, "", "`/to`: first seen in a result of search"},
		{stopgate.Origin{Pointer: "/to", Wanted: []string{"user", "contacts"}}, "", "`/to`: in no text of the conversation: the model made it, not in what you wrote or a text of contacts"},
		{stopgate.Origin{Pointer: "/to", Wanted: []string{"user"}, Not: true, Held: true}, "", "`/to`: in no text of the conversation: the model made it, not in what you wrote"},
		{stopgate.Origin{Pointer: "/to", Source: "user", Wanted: []string{"user"}, Reading: true}, "", "`/to`: only another reading of it is in what you wrote"},
		{stopgate.Origin{Pointer: "/to", Wanted: []string{"user"}, Doubt: stopgate.CodeOriginUnknown}, "x", "`/to` = x: not known where it is from, because not all texts of the conversation are reported"},
		{stopgate.Origin{Pointer: "/to", Wanted: []string{"user"}, Doubt: stopgate.CodeOriginBudget, Held: true}, "", "`/to`: not known where it is from, because the session has more text than the gate keeps"},
	} {
		if got := c.origin.Sentence(c.value); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.origin, got, c.want)
		}
	}
}
