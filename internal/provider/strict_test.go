package provider_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
)

// A request marks tools as strict, or forces a call of them; both set Strict.
func TestStrictTools(t *testing.T) {
	const chat = `{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"b"`
	const item = `{"type":"function","name":"a"},{"type":"function","name":"b"`
	const own = `{"name":"a"},{"name":"b"`
	for _, c := range []struct {
		dialect provider.Dialect
		request string
		a, b    bool
	}{
		{openaichat.Dialect{}, `{"tools":[` + chat + `}}]}`, false, false},
		{openaichat.Dialect{}, `{"tools":[` + chat + `,"strict":true}}]}`, false, true},
		{openaichat.Dialect{}, `{"tools":[` + chat + `,"strict":"true"}}]}`, false, false},
		{openaichat.Dialect{}, `{"tool_choice":{"type":"function","function":{"name":"a"}},"tools":[` + chat + `}}]}`, true, false},
		{openaichat.Dialect{}, `{"tool_choice":"required","tools":[` + chat + `}}]}`, true, true},
		{openaichat.Dialect{}, `{"tool_choice":"auto","tools":[` + chat + `}}]}`, false, false},
		{openairesponses.Dialect{}, `{"tools":[` + item + `}],"tool_choice":"none"}`, false, false},
		{openairesponses.Dialect{}, `{"tools":[` + item + `,"strict":true}]}`, false, true},
		{openairesponses.Dialect{}, `{"tool_choice":{"type":"function","name":"b"},"tools":[` + item + `}]}`, false, true},
		{openairesponses.Dialect{}, `{"tools":[` + item + `}],"tool_choice":"required"}`, true, true},
		{anthropic.Dialect{}, `{"tools":[` + own + `}],"tool_choice":{"type":"auto"}}`, false, false},
		{anthropic.Dialect{}, `{"tools":[` + own + `,"strict":true}]}`, false, true},
		{anthropic.Dialect{}, `{"tool_choice":{"type":"tool","name":"a"},"tools":[` + own + `}]}`, true, false},
		{anthropic.Dialect{}, `{"tools":[` + own + `}],"tool_choice":{"type":"any"}}`, true, true},
	} {
		r, err := c.dialect.Request([]byte(c.request))
		if err != nil {
			t.Fatal(c.request, err)
		}
		if a, b := r.Tool("a").Strict, r.Tool("b").Strict; a != c.a || b != c.b {
			t.Errorf("%s %s: %t %t", c.dialect.Name(), c.request, a, b)
		}
	}
}
