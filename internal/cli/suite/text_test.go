package suite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/cli/suite"
)

// A case says the texts of its conversation: before its one call, before the first of several, and
// before one of them.
func TestTexts(t *testing.T) {
	dir := write(t, map[string]string{
		"stopgate.toml": "version = 1\n[tools.send.policy]\nrun = \"ask\"\n",
		"x.test.toml": `[[case]]
name = "one"
tool = "send"
expect = "ask"
[[case.text]]
source = "user"
text = "write to a@b.example"
[[case.text]]
tool = "search"
args = { q = "x" }
text = [{ email = "c@d.example" }]
[[case]]
name = "several"
knows = ["user"]
[[case.text]]
source = "system"
text = "be brief"
[[case.call]]
tool = "send"
expect = "ask"
[[case.call.text]]
tool = "fetch"
source = "tool"
failed = true
text = "not found"
[[case.call]]
tool = "send"
expect = "ask"
[[case.call.text]]
source = "user"
text = "go on"
[[case.call.text]]
source = "user"
text = "go on"
`,
	})
	s, mistakes, err := suite.Load(filepath.Join(dir, "x.test.toml"), options())
	if err != nil || mistakes.HasErrors() {
		t.Fatal(err, mistakes)
	}
	var got []string
	for _, c := range s.Cases {
		got = append(got, fmt.Sprintf("%s %d", c.Name, c.Known))
		for _, call := range c.Calls {
			line := "  " + string(call.Call.Tool)
			for _, text := range call.Texts {
				if m := text.Message; m != nil {
					line += fmt.Sprintf(" | %s: %s (%s)", m.Source, m.Text, m.ID)
				} else {
					line += fmt.Sprintf(" | %s %s: %s (%s, released %v, failed %v)", text.Result.Tool, text.Result.Args, text.Result.Data, text.Result.Call, text.Result.Released, text.Result.Failed)
				}
			}
			got = append(got, line)
		}
	}
	want := []string{
		fmt.Sprintf("one %d", flow.KnowsUser|flow.KnowsSystem|flow.KnowsResults),
		`  send | user: write to a@b.example (text 1) | search {"q":"x"}: [{"email":"c@d.example"}] (text 2, released true, failed false)`,
		fmt.Sprintf("several %d", flow.KnowsUser),
		`  send | system: be brief (text 6) | fetch {}: "not found" (text 3, released true, failed true)`,
		`  send | user: go on (text 4) | user: go on (text 5)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, failed := run(t, filepath.Join(dir, "x.test.toml"), options()); failed != nil {
		t.Error(failed)
	}
}

// Mistakes in texts are found when the file is read.
func TestTextMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"source = \"usr\"\ntext = \"a\"":                   "a text is from",
		"text = \"a\"":                                     "a text is from",
		"source = \"user\"":                                "`text` is missing",
		"tool = \"a\"":                                     "`text` is missing",
		"source = \"user\"\ntext = { a = 1 }":              "a message is a string",
		"source = \"user\"\ntool = \"a\"\ntext = \"b\"":    "is no result of a tool",
		"source = \"user\"\nargs = {}\ntext = \"b\"":       "is no result of a tool",
		"source = \"system\"\nfailed = true\ntext = \"b\"": "is no result of a tool",
		"tool = \"a\"\nargs = 1\ntext = \"b\"":             "`args` must be a table",
		"source = \"user\"\ntext = \"b\"\nmore = 1":        "unknown key `more`",
	} {
		dir := write(t, map[string]string{
			"stopgate.toml": "version = 1\n[tools.send.policy]\nrun = \"ask\"\n",
			"x.test.toml":   "[[case]]\nname = \"x\"\ntool = \"t\"\nexpect = \"ask\"\n[[case.text]]\n" + text + "\n",
		})
		_, mistakes, err := suite.Load(filepath.Join(dir, "x.test.toml"), options())
		if err != nil || len(mistakes.Errors()) != 1 || !strings.Contains(mistakes[0].Message, want) {
			t.Errorf("%s: %v, %v", text, err, mistakes)
		}
	}
	for knows, good := range map[string]bool{`["user"]`: true, `[]`: true, `["results", "system"]`: true, `["tool"]`: false, `"user"`: false, `[1]`: false} {
		dir := write(t, map[string]string{
			"stopgate.toml": "version = 1\n[tools.send.policy]\nrun = \"ask\"\n",
			"x.test.toml":   "[[case]]\nname = \"x\"\ntool = \"t\"\nexpect = \"ask\"\nknows = " + knows + "\n",
		})
		if _, mistakes, err := suite.Load(filepath.Join(dir, "x.test.toml"), options()); err != nil || mistakes.HasErrors() == good {
			t.Errorf("knows = %s: %v, %v", knows, err, mistakes)
		}
	}
}
