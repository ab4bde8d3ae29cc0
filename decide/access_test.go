package decide_test

import (
	"strings"
	"testing"
)

// Proves D25-49: the answer of an allowed call has the access of its tool; a denial, and a tool
// without a limit, have none.
func TestAccess(t *testing.T) {
	d := newFixture(t, nil)
	a := d.wants(d.do("", "POST", "/v1/calls", `{"tool":"limited","args":{"path":"docs/a"}}`), 200, `"status":"allowed"`, `"write":[]`)
	if access, _ := a.json["access"].(map[string]any); len(access) != 2 || len(access["read"].([]any)) != 1 || !strings.HasSuffix(access["read"].([]any)[0].(string), "src") {
		t.Error(a.text)
	}
	for _, body := range []string{`{"tool":"limited","args":{"path":"no"}}`, `{"tool":"write","args":{"path":"src/a"}}`} {
		if a := d.wants(d.do("", "POST", "/v1/calls", body), 200); a.json["access"] != nil {
			t.Error(a.text)
		}
	}
}
