package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// The kind of a value follows from what a schema states, then from its format, then from its type.
func TestAs(t *testing.T) {
	for text, want := range map[string]flow.Kind{
		`{"type":"string"}`: flow.Text, `{}`: flow.Text, `{"type":"integer"}`: flow.Number, `{"type":["number","null"]}`: flow.Number, `{"type":["number","string"]}`: flow.Text,
		`{"type":"string","format":"email"}`: flow.Email, `{"type":"string","format":"uri"}`: flow.URL, `{"type":"string","format":"hostname"}`: flow.Host,
		`{"type":"string","format":"date"}`: flow.Date, `{"type":"string","format":"date-time"}`: flow.Text, `{"type":"string","format":"uuid"}`: flow.ID,
		`{"type":"string","format":"path"}`: flow.Path, `{"type":"string","x-stopgate-type":"url"}`: flow.URL, `{"type":"string","x-stopgate-type":"command"}`: flow.Text,
		`{"type":"string","format":"email","x-stopgate-as":"id"}`: flow.ID, `{"type":"string","x-stopgate-as":"money","format":"email"}`: flow.Money,
		`{"anyOf":[{"type":"string","format":"email"},{"type":"null"}]}`:                                flow.Email,
		`{"anyOf":[{"type":"string","format":"email"},{"type":"string","format":"uri"}]}`:               flow.Text,
		`{"anyOf":[{"type":"string","format":"email"},{"type":"string","x-stopgate-as":"iban"}]}`:       flow.IBAN,
		`{"type":"array","items":{"type":"string","format":"email"}}`:                                   flow.Email,
		`{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`:                          flow.Number,
		`{"anyOf":[{"type":"string","format":"email"},{"type":"array","items":{"type":"string"}}]}`:     flow.Email,
		`{"anyOf":[{"type":"string","format":"email"},{"type":"array","items":{"format":"hostname"}}]}`: flow.Text,
		`{"type":"array"}`: flow.Text,
	} {
		s := parse(t, `{"type":"object","properties":{"p":`+text+`}}`)
		if got := s.Reach(jsonstream.Pointer{"p"}).As; got != want {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
	if got := parse(t, `{"type":"object","properties":{"p":{"type":"string","format":"email"}}}`).Location().Member([]byte("p")).Location.As(); got != flow.Email {
		t.Error(got)
	}
	if _, _, err := schema.ParseJSON([]byte(`{"x-stopgate-as":"mail"}`)); err == nil {
		t.Error("a kind that does not exist")
	}
}

// A parameter states the kind of its values, which is part of the hash, and models do not see.
func TestAsOfParameters(t *testing.T) {
	plain := declare(t, schema.Parameter{Name: "to", Type: []string{"array"}, Items: &schema.Parameter{Type: []string{"string"}}})
	s := declare(t, schema.Parameter{Name: "to", Type: []string{"array"}, Items: &schema.Parameter{Type: []string{"string"}, As: "email"}})
	if got := s.Reach(jsonstream.Pointer{"to"}).As; got != flow.Email {
		t.Error(got)
	}
	if s.Hash() == plain.Hash() || string(s.ToJSONSchema()) != string(plain.ToJSONSchema()) {
		t.Error("the hash has the kind, the schema for models does not")
	}
	base := parse(t, `{"type":"object","properties":{"to":{"type":"array","items":{"type":"string","format":"hostname"}}}}`)
	both, err := schema.Overlay(base, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := both.Reach(jsonstream.Pointer{"to"}).As; got != flow.Email {
		t.Errorf("over the schema of a tool: %v", got)
	}
	for _, p := range []schema.Parameter{
		{Name: "a", Type: []string{"string"}, As: "mail"}, {Name: "a", Type: []string{"boolean"}, As: "email"},
		{Name: "a", Type: []string{"array"}, Items: &schema.Parameter{Type: []string{"string"}}, As: "email"},
	} {
		_, err := schema.FromParameters([]schema.Parameter{p})
		var mistakes schema.ParameterErrors
		if !errors.As(err, &mistakes) || len(mistakes) != 1 || mistakes[0].Field != "as" || !strings.HasPrefix(mistakes[0].Path, "a") {
			t.Errorf("%v: %v", p, err)
		}
	}
}
