package packs_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// The tools of jp under the packs "coding" and "rust": it reads in the project, its edits are free where all of
// their files are in the folders of the list "work", and cargo asks as in a command.
func TestToolsOfJP(t *testing.T) {
	p, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte("version = 1\nuse = [\"coding\", \"rust\"]\n"), Trusted: true}},
		policy.Options{Root: "/srv/proj", Home: "/home/u", Known: knowntools.Recognise})
	if p == nil {
		t.Fatal(found)
	}
	const (
		grep   = `{"type":"object","properties":{"pattern":{"type":"string"},"context":{"type":"integer"},"paths":{"type":"array","items":{"type":"string"}}},"required":["pattern"]}`
		modify = `{"type":"object","properties":{"path":{"type":"string"},"string_to_replace":{"type":"string"},"new_string":{"type":"string"},"replace_using_regex":{"type":"boolean"},"patterns":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"},"paths":{"type":"array","items":{"type":"string"}}}}}}}`
		// Versions with less.
		older  = `{"type":"object","properties":{"path":{"type":"string"},"string_to_replace":{"type":"string"},"new_string":{"type":"string"}}}`
		single = `{"type":"object","properties":{"path":{"type":"string"},"patterns":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}}}}}}`
		cargo  = `{"type":"object","properties":{"package":{"type":"string"},"testname":{"type":"string"}}}`
		issues = `{"type":"object","properties":{"number":{"type":"integer"}}}`
	)
	for _, c := range []struct {
		tool         stopgate.ToolName
		schema, args string
		want         stopgate.Mode
	}{
		{"fs_grep_files", grep, `{"pattern":"x"}`, stopgate.Unattended},
		{"fs_grep_files", grep, `{"pattern":"x","paths":["src","docs/rfd"],"context":3}`, stopgate.Unattended},
		{"fs_grep_files", grep, `{"pattern":"x","paths":["src",".env"]}`, stopgate.Deny},
		{"fs_grep_files", grep, `{"pattern":"x","paths":["src","/etc"]}`, stopgate.Ask},
		{"fs_grep_files", grep, `{"pattern":"x","paths":["src/../../x"]}`, stopgate.Ask},
		{"fs_modify_file", modify, `{"path":"src/a.rs","string_to_replace":"a","new_string":"b","replace_using_regex":false}`, stopgate.Unattended},
		{"fs_modify_file", modify, `{"path":"src/a.rs","patterns":[{"old":"a","new":"b"}]}`, stopgate.Unattended},
		{"fs_modify_file", modify, `{"patterns":[{"old":"a","new":"b","paths":["src/a.rs"]},{"old":"c","new":"d","paths":["src/b.rs","lib/c.rs"]}],"replace_using_regex":false}`, stopgate.Unattended},
		{"fs_modify_file", modify, `{"path":"src/a.rs","patterns":[{"old":"a","new":"b"},{"old":"c","new":"d","paths":["src/b.rs"]}]}`, stopgate.Ask}, // one has none
		{"fs_modify_file", modify, `{"path":"Makefile","patterns":[{"old":"a","new":"b","paths":["src/a.rs"]}]}`, stopgate.Ask},
		{"fs_modify_file", modify, `{"path":"src/a.rs","patterns":[{"old":"a","new":"b","paths":["Makefile"]}]}`, stopgate.Ask},
		{"fs_modify_file", modify, `{"patterns":[{"old":"a","new":"b","paths":["src/a.rs"]},{"old":"a","new":"b","paths":["src/a.rs","Makefile"]}]}`, stopgate.Ask},
		{"fs_modify_file", modify, `{"patterns":[{"old":"a","new":"b"}]}`, stopgate.Ask},
		{"fs_modify_file", modify, `{"path":"src/**/*.rs","string_to_replace":"a","new_string":"b"}`, stopgate.Ask},
		{"fs_modify_file", modify, `{"patterns":[{"old":"a","new":"b","paths":["src/[a-z].rs"]}]}`, stopgate.Ask},
		{"fs_modify_file", modify, `{"path":"src/AGENTS.md","string_to_replace":"a","new_string":"b"}`, stopgate.Ask},
		{"fs_modify_file", modify, `{"patterns":[{"old":"a","new":"b","paths":["src/a.rs","src/x.lock"]}]}`, stopgate.Skip},
		{"fs_modify_file", modify, `{"patterns":[{"old":"a","new":"b","paths":["src/a.rs","src/.env"]}]}`, stopgate.Deny},
		{"fs_modify_file", modify, `{"path":"src/a.rs","patterns":[{"old":".env","new":"/etc/passwd"}]}`, stopgate.Unattended},
		{"fs_modify_file", older, `{"path":"src/a.rs","string_to_replace":"a","new_string":"b"}`, stopgate.Unattended},
		{"fs_modify_file", older, `{"path":"Makefile","string_to_replace":"a","new_string":"b"}`, stopgate.Ask},
		{"fs_modify_file", single, `{"path":"src/a.rs","patterns":[{"old":"a","new":"b"}]}`, stopgate.Unattended},
		{"fs_modify_file", single, `{"path":"Makefile","patterns":[{"old":"a","new":"b"}]}`, stopgate.Ask},
		{"cargo_check", cargo, `{}`, stopgate.Ask},
		{"cargo_test", cargo, `{"package":"a","testname":"b"}`, stopgate.Ask},
		{"cargo_format", cargo, `{"package":"a"}`, stopgate.Ask},
		{"github_issues", issues, `{"number":1}`, stopgate.Ask},
	} {
		e := p.Bind(stopgate.Call{Tool: c.tool, Surface: stopgate.SurfaceGateway, Definition: &stopgate.ToolDefinition{Name: c.tool, Schema: []byte(c.schema)}}).Evaluate()
		e.Feed([]byte(c.args))
		if v := e.Close(stopgate.Ended); v.Mode != c.want {
			t.Errorf("%s %s: %s (%s), want %s", c.tool, c.args, v.Mode, v.Code, c.want)
		}
	}
}

// Where a person lets the commands of the project run, so do the tools that check, test and format it, with a name of a
// package or a test and nothing else.
func TestToolsOfJPThatMayRun(t *testing.T) {
	p, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte("version = 1\nuse = [\"coding\", \"rust-run\", \"rust\"]\n"), Trusted: true}},
		policy.Options{Root: "/srv/proj", Home: "/home/u", Known: knowntools.Recognise})
	if p == nil || len(found) > 0 {
		t.Fatal(found)
	}
	const cargo = `{"type":"object","properties":{"package":{"type":"string"},"testname":{"type":"string"}}}`
	const less = `{"type":"object","properties":{"package":{"type":"string"}}}` // of some tools
	for _, c := range []struct {
		tool stopgate.ToolName
		args string
		want stopgate.Mode
	}{
		{"cargo_check", `{}`, stopgate.Unattended},
		{"cargo_format", `{"package":"shop-core"}`, stopgate.Unattended},
		{"cargo_test", `{"package":"a","testname":"tests::it_works"}`, stopgate.Unattended},
		{"cargo_test", `{"package":"--config=x"}`, stopgate.Ask},
		{"cargo_test", `{"package":"-p"}`, stopgate.Ask},
		{"cargo_test", `{"package":"../x"}`, stopgate.Ask},
		{"cargo_test", `{"package":"a","testname":"-E all"}`, stopgate.Ask},
		{"cargo_test", `{"testname":"a b"}`, stopgate.Ask},
		{"cargo_expand", `{}`, stopgate.Ask},
		{"cargo_update", `{}`, stopgate.Ask},
	} {
		schemas := []string{cargo, less, `{"type":"object","properties":{}}`}
		if strings.Contains(c.args, "testname") {
			schemas = schemas[:1]
		} else if strings.Contains(c.args, "package") {
			schemas = schemas[:2]
		}
		for _, schema := range schemas {
			e := p.Bind(stopgate.Call{Tool: c.tool, Surface: stopgate.SurfaceGateway, Definition: &stopgate.ToolDefinition{Name: c.tool, Schema: []byte(schema)}}).Evaluate()
			e.Feed([]byte(c.args))
			if v := e.Close(stopgate.Ended); v.Mode != c.want {
				t.Errorf("%s %s with %s: %s (%s), want %s", c.tool, c.args, schema, v.Mode, v.Code, c.want)
			}
		}
	}
}
