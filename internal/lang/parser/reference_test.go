package parser_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
)

// The reference page of sessions documents every key of [[session]] and [[handoffs]] (K36).
func TestSessionReference(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/sessions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range append(parser.SessionKeys(), parser.HandoffKeys()...) {
		if !strings.Contains(string(page), "`"+key) {
			t.Errorf("docs/reference/sessions.md does not name %s", key)
		}
	}
}

// The reference documents every key of the language (K36), and its examples load without warnings
// about traps.
func TestReference(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, key := range parser.Keys(kinds.Table()) {
		if !regexp.MustCompile("\\b" + regexp.QuoteMeta(key) + "\\b").MatchString(text) {
			t.Errorf("the reference does not name %s", key)
		}
	}
	examples := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(examples) < 2 {
		t.Fatal("no examples")
	}
	for _, e := range examples {
		for _, d := range findings("example.toml", []byte(e[1]), policy.Options{Strict: true}) {
			if !strings.HasPrefix(d.Severity.String(), "note") {
				t.Errorf("%v\n%s", d, e[1])
			}
		}
	}
}
