package client_test

import (
	"errors"
	"testing"

	"github.com/stopgate/stopgate/decide/client"
)

// Only a client with the scope adds texts.
func TestAddTexts(t *testing.T) {
	p := open(t)
	add := client.Texts{
		Known: []string{"user"}, Whole: true, Conversation: "c",
		List: []client.Text{{Source: "user", Text: "hello", ID: "m1"}, {Source: "tool", Text: "page", Tool: "web", Call: "c1"}},
	}
	of := client.Owner{Principal: "agent", Session: "s"}
	host := p.as("host")
	if err := errors.Join(host.Approved(t.Context(), of, "reviewed"), host.Spoke(t.Context(), of)); err != nil {
		t.Error(err)
	}
	if err := p.as("agent").Approved(t.Context(), of, "reviewed"); !errors.Is(err, client.ErrScope) {
		t.Error(err)
	}
	if read, err := p.as("host").AddTexts(t.Context(), of, add); err != nil || read {
		t.Error(read, err) // no policy needs texts
	}
	if _, err := p.as("host").AddTexts(t.Context(), of, client.Texts{}); err != nil {
		t.Error(err)
	}
	if _, err := p.as("agent").AddTexts(t.Context(), of, add); !errors.Is(err, client.ErrScope) {
		t.Error(err)
	}
	if _, err := p.as("host").AddTexts(t.Context(), of, client.Texts{List: []client.Text{{Source: "web"}}}); err == nil {
		t.Error("an unknown source was accepted")
	}
}
