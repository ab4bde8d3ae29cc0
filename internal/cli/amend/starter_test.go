package amend_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/amend"
	"github.com/stopgate/stopgate/internal/config"
)

// BenchmarkProve proves a rule for the built-in policy, while a user waits.
func BenchmarkProve(b *testing.B) {
	d := stopgate.ToolDefinition{Name: "fs_create_file", Schema: []byte(
		`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"},"replace":{"type":"boolean"},"content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}`)}
	for b.Loop() {
		c, err := amend.Before("p.toml", config.Starter(), "fs_create_file", rule, 0)
		if err == nil {
			_, _, err = c.Prove(d)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
