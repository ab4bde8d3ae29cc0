package kepttext_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
	"github.com/stopgate/stopgate/internal/record/kepttext"
)

// The setting for arguments holds for texts: none stores none, redacted removes what it removes from
// arguments, from JSON and from plain text.
func TestSettingOfArgumentsHoldsForTexts(t *testing.T) {
	const token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	redactor, err := audit.NewRedactor([]string{"/pin"}, []string{"tango"})
	if err != nil {
		t.Fatal(err)
	}
	list := []kept.Addition{
		{Message: &flow.Message{Source: flow.User, Text: []byte("plain words")}},
		{Message: &flow.Message{Source: flow.User, Text: []byte("use " + token + " and\n\"tango\"")}},
		{Result: &flow.Result{Args: []byte(`{"pin":"1234"}`), Data: []byte(`{"note":"` + token + `","n":1}`)}},
		{Known: flow.KnowsUser},
	}
	var texts [][]byte
	for _, a := range list {
		texts = append(texts, a.Append(nil))
	}
	texts = append(texts, nil, []byte("no text"))
	if got := kepttext.Of(texts, 7, audit.KeepNone, redactor); len(got) != 0 {
		t.Errorf("none keeps %d texts", len(got))
	}
	full := kepttext.Of(texts[:5], 7, audit.KeepFull, nil)
	if len(full) != 4 || full[3].Number != 10 || !bytes.Equal(full[1].Text, texts[1]) || full[1].Redacted {
		t.Errorf("%+v", full)
	}
	clean := kepttext.Of(texts, 7, audit.KeepRedacted, redactor)
	if len(clean) != 4 { // the one that cannot be read is not kept
		t.Fatalf("%d texts", len(clean))
	}
	for i, want := range []bool{false, true, true, false} {
		if clean[i].Redacted != want || clean[i].Number != uint64(7+i) {
			t.Errorf("text %d: %+v", i, clean[i])
		}
		for _, secret := range []string{token, "tango", "1234"} {
			if bytes.Contains(clean[i].Text, []byte(secret)) {
				t.Errorf("text %d has %q", i, secret)
			}
		}
		if _, err := kept.Parse(clean[i].Text); err != nil {
			t.Errorf("text %d: %v", i, err)
		}
	}
	if a, _ := kept.Parse(clean[1].Text); !strings.HasSuffix(string(a.Message.Text), "and\n\"[redacted]\"") {
		t.Errorf("%q", a.Message.Text)
	}
}
