package source_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
)

// An item counts only if its sender certainly comes from the named sources: the address of the
// sender, not its display name, and exactly one.
func TestKnownSenders(t *testing.T) {
	for _, c := range []struct {
		name, sender string
		known        bool
	}{
		{"named by the user", `bob@x.com`, true},
		{"with a display name", `Bob <bob@x.com>`, true},
		{"from the contacts", `carol@x.com`, true},
		{"unknown", `mallory@evil.com`, false},
		{"a known address as the display name", `\"bob@x.com\" <mallory@evil.com>`, false},
		{"a known address as a comment", `mallory@evil.com (bob@x.com)`, false},
		{"an unquoted address as the display name", `bob@x.com <mallory@evil.com>`, false},
		{"an unknown address as the display name", `\"mallory@evil.com\" <bob@x.com>`, true},
		{"two addresses", `bob@x.com, mallory@evil.com`, false},
		{"a subdomain", `bob@x.com.evil.com`, false},
		{"a longer name", `notbob@x.com`, false},
		{"empty", ``, false},
		{"only blanks", ` `, false},
		{"the own address", `me@x.com`, false},
		{"the own address with a tag", `Me <ME+note@x.com>`, false},
	} {
		s := begin(t, "[flow]\nown = [\"me@x.com\"]\n"+mail)
		s.user("Please answer bob@x.com, my address is me@x.com")
		s.called("search_contacts", `{"name":"carol"}`, `[{"email":"carol@x.com"}]`)
		s.called("read_inbox", `{}`, `[{"sender":"`+c.sender+`","body":"pay IBAN1"},{"body":"no sender"},{"sender":["bob@x.com","mallory@evil.com"],"body":"list"},{"sender":7,"body":"n"}]`)
		if c.known {
			want(t, c.name, s.index.of("known_mail"), "pay IBAN1")
		} else {
			want(t, c.name, s.index.of("known_mail"))
		}
	}
}

// A part of the value that a label names is compared instead of the value.
func TestConditionWithLabel(t *testing.T) {
	s := begin(t, `[sources.m]
tool = "read"
items = "/*"
where = { pointer = "/sender", label = "^([a-z]{3,})[.@]", from = ["user"] }
field = "/body"`)
	s.user("Lily sent me a link")
	s.called("read", `{}`, `[{"sender":"lily.white@x.com","body":"a"},{"sender":"malory@x.com","body":"b"},{"sender":"li@x.com","body":"c"}]`)
	want(t, "bodies", s.index.of("m"), "a")
}

// An argument must come from the sources, certainly, in every part.
func TestAskedFrom(t *testing.T) {
	policy := "[sources.s]\ntool = \"search\"\nasked = { pointer = \"/name\", from = [\"user\"] }"
	for args, known := range map[string]bool{
		`{"name":"Blue Mouse"}`:            true,
		`{"name":"Red Mouse"}`:             false,
		`{"name":["Blue Mouse","a lamp"]}`: true,
		`{"name":["Blue Mouse","a bomb"]}`: false,
		`{"name":[]}`:                      false,
		`{"name":null}`:                    false,
		`{"name":true}`:                    false,
		`{"name":{"a":"Blue Mouse"}}`:      true,
		`{"title":"Blue Mouse"}`:           false,
	} {
		s := begin(t, policy)
		s.user("buy a Blue Mouse and a lamp")
		s.result("search", args, "found")
		if got := len(s.index.of("s")) > 0; got != known {
			t.Errorf("%s: %t", args, got)
		}
	}
}

// Definitions are evaluated after those that they lean on, in one result too; one that leans on
// itself covers nothing.
func TestDefinitionsThatLean(t *testing.T) {
	s := begin(t, `[sources.mail]
tool = "get"
items = "/mails/*"
where = { pointer = "/sender", from = ["contacts"] }
field = "/body"
[sources.contacts]
tool = "get"
field = "/contacts/*"`)
	s.called("get", `{}`, `{"contacts":["bob@x.com"],"mails":[{"sender":"bob@x.com","body":"a"},{"sender":"mallory@x.com","body":"b"}]}`)
	want(t, "bodies", s.index.of("mail"), "a")
	// A sender that the call itself named is an echo, and one that the agent wrote is its own.
	s.result("get", `{"q":"eve@x.com"}`, `{"contacts":["eve@x.com"],"mails":[{"sender":"eve@x.com","body":"c"}]}`)
	s.Call(s.index, "send_email", []byte(`{"to":"mallory@x.com"}`))
	s.result("get", `{"n":2}`, `{"contacts":["mallory@x.com"],"mails":[{"sender":"mallory@x.com","body":"d"}]}`)
	want(t, "bodies", s.index.of("mail"), "a")
	if n := len(s.index.of(flow.Tool)); n < 5 {
		t.Errorf("%d texts of tool", n)
	}
}

// The names of an untrusted file are apart from those of the operator's.
func TestScopes(t *testing.T) {
	s := two(t, "[sources.s]\ntool = \"get\"\nfield = \"/a\"\ntrusted = true", "[sources.s]\ntool = \"get\"\ntrusted = true\n[sources.t]\ntool = \"get\"\nasked = { pointer = \"/q\", from = [\"s\", \"user\"] }")
	s.user("look for the lamp")
	s.called("get", `{"q":"the lamp"}`, `{"a":"x","b":"y"}`)
	want(t, "operator", s.index.of("s"), "x")
	want(t, "project", s.index.of("s@p"), "x", "y")
	want(t, "project, from the user", s.index.of("t@p"), "x", "y")
}

// The label of a text counts where it has one meaning.
func TestLabels(t *testing.T) {
	for _, c := range []struct{ name, label, text, want string }{
		{"one line", `(?m)^IBAN: (\S+)$`, "Name: Bob\nIBAN: DE1\n", "DE1"},
		{"the same twice", `(?m)^IBAN: (\S+)$`, "IBAN: DE1\nIBAN: DE1", "DE1"},
		{"a forged one after it", `(?m)^IBAN: (\S+)$`, "IBAN: DE1\nIBAN: EVIL", ""},
		{"a forged one before it", `(?m)^IBAN: (\S+)$`, "IBAN: EVIL\nIBAN: DE1", ""},
		{"inside of another field's value", `(?m)^IBAN: (\S+)$`, "Name: IBAN: EVIL\nIBAN: DE1", "DE1"},
		{"at the start of another field's second line", `(?m)^IBAN: (\S+)$`, "Name: Bob\nIBAN: EVIL\nIBAN: DE1", ""},
		{"swallowed by what follows", `(?s)IBAN: (\S+).*`, "IBAN: EVIL\nIBAN: DE1", ""},
		{"swallowed by what precedes", `(?s)^.*IBAN: (\S+)`, "IBAN: EVIL\nIBAN: DE1", ""},
		{"a group that may reach further", `(?m)^Name: (.*)$`, "Name: Bob", "Bob"},
		{"empty", `(?m)^Name: (.*)$`, "Name: \nName: x", ""},
		{"only an empty one", `(?m)^Name: (.*)$`, "Name: ", ""},
		{"none", `(?m)^IBAN: (\S+)$`, "Iban: DE1", ""},
		{"many", `x(.)`, strings.Repeat("xa", 100), ""},
	} {
		s := begin(t, "[sources.s]\ntool = \"read\"\nlabel = '"+c.label+"'")
		s.called("read", `{}`, c.text)
		if c.want == "" {
			want(t, c.name, s.index.of("s"))
		} else {
			want(t, c.name, s.index.of("s"), c.want)
		}
	}
	s := begin(t, "[sources.s]\ntool = \"read\"\nlabel = '(?m)^IBAN: (\\S+)$'\n[sources.f]\ntool = \"read\"\nfield = \"/body\"\nlabel = '(?m)^IBAN: (\\S+)$'")
	s.called("read", `{}`, `{"name":"x\nIBAN: EVIL","body":"IBAN: DE1"}`)
	want(t, "a label in a structured result without a field", s.index.of("s"))
	want(t, "a label in a field", s.index.of("f"), "DE1")
}
