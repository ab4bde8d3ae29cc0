package diff_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// parameterTables are declarations that random policies have for all tools.
var parameterTables = []string{
	`a = { type = "path" }`, `a = { type = "string" }`, `a = { type = "array" }`, `a = { type = "url" }`, `a = { type = "command" }`,
	`b = { type = "string" }`, `b = { type = "array", items = { type = "path" } }`, `b = { type = "string", max_length = 3 }`, `c = { type = "integer" }`,
}

// parameterValues are values of the parameters in calls.
var parameterValues = []string{
	`"x"`, `".env"`, `"q/.env"`, `"q=.env"`, `"https:/x/.env"`, `[]`, `[".env"]`, `["x"]`, `5`, `true`, `{"k":".env"}`, `"cat .env"`, `"rm x"`, `"# /.env"`, `"src/a"`,
}

// A difference of policies that declare parameters differently and calls itself complete
// misses no direction: judged by both programs, a call moves only as a listed change does.
func TestDiffOfParametersIsTrue(t *testing.T) {
	complete, compared, moved := 0, 0, 0
	for seed := range property.Cases(100, 600, 10_000) {
		g := rand.New(rand.NewPCG(uint64(seed), 17))
		pick := func(list ...string) string { return list[g.IntN(len(list))] }
		declarations := func() (string, string) {
			a, b := parameterTables[g.IntN(5)], parameterTables[5+g.IntN(4)]
			return a, b
		}
		a, b := declarations()
		lists := pick(`policy.run = "unattended"`, `policy.run = "ask"`, `policy.run = [ { arg = "/n", const = 1, mode = "unattended" }, { mode = "ask" } ]`)
		if strings.Contains(lists, "/n") || g.IntN(3) == 0 {
			lists = "parameters.n = { type = \"integer\" }\n" + lists
			if g.IntN(2) == 0 {
				lists += "\nunknown_params = \"allow\""
			}
		}
		every := pick(`run = "ask"`, `run = "unattended"`, `run = "deny"`)
		gate := pick("", "[gate]\non_schema_violation = \"ask\"\n", "[gate]\nuncovered = \"deny\"\n", "[gate]\nuncovered = \"allow\"\n")
		guards := ""
		for range g.IntN(3) {
			guards += pick(commandGuards...)
		}
		write := func(parameters ...string) string {
			return "version = 1\n" + gate + "[tools.\"*\".policy]\n" + every + "\n[tools.\"*\".parameters]\nz = { type = \"integer\" }\n" + strings.Join(parameters, "\n") + "\n[tools.t]\n" + lists + "\n" + guards
		}
		old, new := write(a, b), ""
		switch g.IntN(4) {
		case 0:
			new = write(a)
		case 1:
			new = write(b)
		case 2:
			other, _ := declarations()
			new = write(other, b)
		default:
			old, new = write(b), old
		}
		options := policy.Options{}
		if g.IntN(2) == 0 {
			options.Definitions = []stopgate.ToolDefinition{{Name: "t", Schema: []byte(pick(
				`{"type":"object","properties":{"n":{"type":"integer"},"a":{"type":"string"},"b":{"type":"string"}}}`,
				`{"type":"object","properties":{"n":{"type":"integer"},"a":{"type":"string"}},"additionalProperties":false}`,
				`{"type":"object","properties":{"n":{"type":"integer"},"a":{}}}`))}}
		}
		d, _, _ := diff.Files(policy.Source{Name: "old.toml", Text: []byte(old)}, policy.Source{Name: "new.toml", Text: []byte(new)}, options, nil)
		if d == nil {
			continue
		}
		compared++
		if !d.Complete {
			continue
		}
		complete++
		before, after := compiled(old), compiled(new)
		if before == nil || after == nil {
			continue
		}
		for _, name := range []string{"a", "b"} {
			for _, value := range parameterValues {
				for _, args := range []string{fmt.Sprintf(`{%q:%s}`, name, value), fmt.Sprintf(`{"n":1,%q:%s}`, name, value)} {
					call := stopgate.Call{Tool: "t", Args: []byte(args)}
					if len(options.Definitions) > 0 {
						call.Definition = &options.Definitions[0]
					}
					from, to := modeIn(before, call), modeIn(after, call)
					if from == to {
						continue
					}
					moved++
					direction := diff.Tightened
					if stopgate.Strictest(from, to) == from {
						direction = diff.Loosened
					}
					listed := false
					for _, c := range d.Changes {
						listed = listed || c.Direction == direction && c.Tool == "t"
						for _, tool := range c.Tools {
							listed = listed || c.Direction == direction && tool == "t"
						}
					}
					if !listed {
						t.Errorf("seed %d: %s moves from %v to %v, which is not listed\nold\n%s\nnew\n%s\n%+v", seed, args, from, to, old, new, options.Definitions)
					}
				}
			}
		}
	}
	t.Logf("%d of %d complete, %d calls moved", complete, compared, moved)
	if complete*5 < compared || moved == 0 {
		t.Errorf("only %d of %d are decided, %d calls moved", complete, compared, moved)
	}
}
