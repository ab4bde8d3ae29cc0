package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/audit"
)

// Proves S13, H17: values that look like secrets, and values at named places, are redacted; every
// other byte is unchanged.
func TestRedact(t *testing.T) {
	r, err := audit.NewRedactor([]string{"/env/*", "/a~1b", "/list/1"}, []string{`internal-\d+`})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want, changed string }{
		{`{"a": 1.50, "b":"\u0041"}`, `{"a": 1.50, "b":"\u0041"}`, "[]"},
		{`{"env":{"HOME":"/root","N":{"x":[1]}}}`, `{"env":{"HOME":"[redacted]","N":"[redacted]"}}`, "[/env/HOME /env/N]"},
		{`{"a/b":true,"list":[1,2,3]}`, `{"a/b":"[redacted]","list":[1,"[redacted]",3]}`, "[/a~1b /list/1]"},
		{`{"c":"see internal-42, not external"}`, `{"c":"see [redacted], not external"}`, "[/c]"},
		{`{"k":"AKIAIOSFODNN7EXAMPLE"}`, `{"k":"[redacted]"}`, "[/k]"},
		{`{"k":"\u0041KIAIOSFODNN7EXAMPLE"}`, `{"k":"[redacted]"}`, "[/k]"},
		{`{"k":["curl -H \"Authorization: Bearer abc.def\" x"]}`, `{"k":["curl -H \"[redacted]\" x"]}`, "[/k/0]"},
		{`{"k":"https://me:hunter2@example.com/x"}`, `{"k":"[redacted]example.com/x"}`, "[/k]"},
		{`{"k":"DB_PASSWORD=hunter2 make"}`, `{"k":"[redacted] make"}`, "[/k]"},
		{`{"k":"ghp_` + strings.Repeat("a", 36) + `"}`, `{"k":"[redacted]"}`, "[/k]"},
		{`{"k":"-----BEGIN RSA PRIVATE KEY-----\nMIIE"}`, `{"k":"[redacted]"}`, "[/k]"},
		{`{"k":"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nrest"}`, `{"k":"[redacted]\nrest"}`, "[/k]"},
		{`{"k":"a task-list of sk-ills, eyJ alone"}`, `{"k":"a task-list of sk-ills, eyJ alone"}`, "[]"},
	} {
		got, changed, err := r.Redact([]byte(c.args))
		if err != nil || string(got) != c.want || fmt.Sprint(changed) != c.changed {
			t.Errorf("%s\n got %s %v %v\nwant %s %s", c.args, got, changed, err, c.want, c.changed)
		}
	}
	for _, bad := range []string{``, `{"a":`, `{"a":1,"a":2}`, "\xff"} {
		if got, _, err := r.Redact([]byte(bad)); err == nil || got != nil {
			t.Errorf("%q: got %q, %v", bad, got, err)
		}
	}
}

func TestNewRedactorNamesEveryMistake(t *testing.T) {
	_, err := audit.NewRedactor([]string{"path"}, []string{"("})
	if err == nil || !strings.Contains(err.Error(), `pointer "path"`) || !strings.Contains(err.Error(), `pattern "("`) {
		t.Errorf("error %v", err)
	}
}

// Proves S13: the setting has three values; any other value stores nothing.
func TestKeep(t *testing.T) {
	for text, want := range map[string]audit.Keep{"none": audit.KeepNone, "redacted": audit.KeepRedacted, "full": audit.KeepFull} {
		var k audit.Keep
		if err := k.UnmarshalText([]byte(text)); err != nil || k != want || k.String() != text {
			t.Errorf("%s: %v, %v", text, k, err)
		}
	}
	k := audit.KeepNone
	if err := k.UnmarshalText([]byte("all")); err == nil || k != audit.KeepNone {
		t.Errorf("%v, %v", k, err)
	}
}
