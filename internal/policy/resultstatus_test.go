package policy_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// The success of a result does not depend on the surface that reports it.
func TestSuccessOfResultForms(t *testing.T) {
	for _, c := range []struct {
		success, data string
		want          bool
	}{
		{`{ pattern = "^PASS" }`, `PASS 3`, true},
		{`{ pattern = "^PASS" }`, `"PASS 3"`, true},
		{`{ pattern = "^PASS" }`, `{"content":[{"type":"text","text":"PASS 3"}]}`, true},
		{`{ pattern = "^PASS" }`, `{"content":[{"type":"text","text":"FAIL"},{"type":"text","text":"PASS 3"}]}`, false},
		{`{ pattern = "^PASS" }`, `{"content":"PASS"}`, false},
		{`{ pattern = "^PASS" }`, `{"content":["PASS"]}`, false},
		{`{ pattern = "^PASS" }`, `"FAIL"`, false},
		{`{ exit_code = "/code" }`, `{"code":0}`, true},
		{`{ exit_code = "/code" }`, `{"content":[],"structuredContent":{"code":0}}`, true},
		{`{ exit_code = "/structuredContent/code" }`, `{"content":[],"structuredContent":{"code":0}}`, true},
		{`{ exit_code = "/code" }`, `{"content":[{"type":"text","text":"{\"code\":0}"}]}`, true},
		{`{ exit_code = "/code" }`, `{"content":[{"type":"text","text":"{\"code\":0}"}],"structuredContent":{"code":1}}`, false},
		{`{ exit_code = "/code" }`, `{"content":[{"type":"text","text":"code 0"}]}`, false},
		{`{ exit_code = "/code" }`, `"0"`, false},
	} {
		program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte(
			"version = 1\n[tools.test]\nsuccess = " + c.success + "\n[[session]]\ntype = \"require\"\nbefore = \"deploy\"\nrequires = [\"test\"]\n")}}, policy.Options{})
		if program == nil {
			t.Fatal(mistakes)
		}
		if got := program.ResultStatus("test")([]byte(c.data)); got != c.want {
			t.Errorf("success = %s of %s: %v, want %v", c.success, c.data, got, c.want)
		}
	}
}
