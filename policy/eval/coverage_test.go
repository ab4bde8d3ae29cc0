package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy"
)

// A permit runs a call only if somebody has looked at each of its strings, lists and objects:
// a parameter table, the permit, or a rule before it that restricts.
func TestPermitsNeedCoverage(t *testing.T) {
	const definition = `{"type":"object","properties":{"path":{"type":"string"},"target_file":{"type":"string"},"n":{"type":"integer"},"paths":{"type":"array","items":{"type":"string"}},"opt":{"type":["string","null"]}}}`
	own := `parameters.path = { type = "path" }
policy.run = [{ arg = "/path", glob = "src/**", mode = "unattended" }]`
	for _, c := range []struct {
		table, gate, args string
		embedded          bool
		want              string
		pointer           string
		at                int64
	}{
		{own, "", `{"path":"src/a"}`, false, "unattended rule_matched", "", -1},
		{own, "", `{"path":"src/a","n":1,"opt":null}`, false, "unattended rule_matched", "", -1},
		{own, "", `{"path":"src/a","target_file":"x"}`, false, "ask parameter_not_covered", "/target_file", 29},
		{own, "", `{"path":"src/a","paths":["x"]}`, false, "ask parameter_not_covered", "/paths", 23},
		{own, "", `{"path":"src/a","opt":"x"}`, false, "ask parameter_not_covered", "/opt", -1},
		{own, "uncovered = \"deny\"\n", `{"path":"src/a","target_file":"x"}`, false, "deny parameter_not_covered", "/target_file", 29},
		{own, "uncovered = \"allow\"\n", `{"path":"src/a","target_file":"x"}`, false, "unattended rule_matched", "", -1},
		{`policy.run = "unattended"`, "", `{"target_file":"x"}`, false, "unattended rule_matched", "", -1},
		{`policy.run = "unattended"`, "", `{"target_file":"x"}`, true, "ask parameter_not_covered", "/target_file", -1},
		{`policy.run = [{ arg = "/n", minimum = 0, ignores = ["/target_file"], mode = "unattended" }]`, "", `{"n":1,"target_file":"x"}`, false, "unattended rule_matched", "", -1},
		{`policy.run = [{ arg = "/target_file", prefix = "k", mode = "deny" }, { arg = "/n", minimum = 0, mode = "unattended" }]`, "", `{"n":1,"target_file":"x"}`, false, "unattended rule_matched", "", -1},
	} {
		p, list := policy.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Embedded: c.embedded, Text: []byte("version = 1\n[gate]\n" + c.gate + "[tools.write_file]\n" + c.table + "\n")}}, policy.Options{Root: "/srv/app"})
		if p == nil {
			t.Fatal(list)
		}
		for _, size := range []int{1, len(c.args)} {
			e := p.Bind(stopgate.Call{Tool: "write_file", Definition: &stopgate.ToolDefinition{Name: "write_file", Schema: []byte(definition)}}).Evaluate()
			for i := 0; i < len(c.args); i += size {
				e.Feed([]byte(c.args[i:min(i+size, len(c.args))]))
			}
			v := e.Close(stopgate.Ended)
			if got := v.Mode.String() + " " + string(v.Code); got != c.want || v.Pointer != c.pointer && c.pointer != "" || c.at >= 0 && v.DecidedAt > c.at {
				t.Errorf("%s %s: %s at %s, byte %d", c.table, c.args, got, v.Pointer, v.DecidedAt)
			}
		}
	}
}
