package amend_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/amend"
)

const rule = `{ arg = "/path", const = "a.txt", mode = "unattended" }`

var definition = stopgate.ToolDefinition{Name: "write", Schema: []byte(
	`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"},"text":{"type":"string"}},"required":["path"],"additionalProperties":false}`)}

// Proves D25-09, K35: the rule is added directly before the one that asks, and every other byte
// stays, for all forms of a list.
func TestBefore(t *testing.T) {
	for _, test := range []struct {
		name         string
		before, want string
		at           int
		copied       string
	}{
		{"lines", `version = 1 # one

[tools.write.policy]
# never there
run = [
  { arg = "/path", prefix = "etc", mode = "deny" }, # the machine's

  # Everything else
  # is asked.
  { mode = "ask" },
]
# end`, `version = 1 # one

[tools.write.policy]
# never there
run = [
  { arg = "/path", prefix = "etc", mode = "deny" }, # the machine's

  ` + rule + `,
  # Everything else
  # is asked.
  { mode = "ask" },
]
# end
`, 1, ""},
		{"one line", "version = 1\n[tools.write.policy]\nrun = [{ arg = \"/path\", prefix = \"etc\", mode = \"deny\" }, { mode = \"ask\" }]\n",
			"version = 1\n[tools.write.policy]\nrun = [{ arg = \"/path\", prefix = \"etc\", mode = \"deny\" }, " + rule + ", { mode = \"ask\" }]\n", 1, ""},
		{"the first of one line", "version = 1\n[tools.write]\npolicy = { run = [{ mode = \"ask\" }] }\n",
			"version = 1\n[tools.write]\npolicy = { run = [" + rule + ", { mode = \"ask\" }] }\n", 0, ""},
		{"a word", "version = 1\n[tools.write]\npolicy.run = \"ask\"  # for now\n",
			"version = 1\n[tools.write]\npolicy.run = [\n  " + rule + ",\n  { mode = \"ask\" },\n]  # for now\n", 0, ""},
		{"a word in braces", "version = 1\n[tools]\nwrite = { policy = { run = \"ask\" } }\n",
			"version = 1\n[tools]\nwrite = { policy = { run = [" + rule + ", { mode = \"ask\" }] } }\n", 0, ""},
		{"no rule matched", "version = 1\n[tools.write.policy]\nrun = [\n  { arg = \"/path\", prefix = \"etc\", mode = \"deny\" } # the machine's\n]\n",
			"version = 1\n[tools.write.policy]\nrun = [\n  { arg = \"/path\", prefix = \"etc\", mode = \"deny\" }, # the machine's\n  " + rule + ",\n]\n", amend.End, ""},
		{"no rule matched, with a comma", "version = 1\n[tools.write.policy]\nrun = [\n\t{ arg = \"/path\", prefix = \"etc\", mode = \"deny\" },\n]\n",
			"version = 1\n[tools.write.policy]\nrun = [\n\t{ arg = \"/path\", prefix = \"etc\", mode = \"deny\" },\n\t" + rule + ",\n]\n", amend.End, ""},
		{"no rule matched, on one line", "version = 1\n[tools.write.policy]\nrun = [{ arg = \"/path\", prefix = \"etc\", mode = \"deny\" }]\n",
			"version = 1\n[tools.write.policy]\nrun = [{ arg = \"/path\", prefix = \"etc\", mode = \"deny\" }, " + rule + "]\n", amend.End, ""},
		{"no rules", "version = 1\n[tools.write.policy]\nrun = []\n", "version = 1\n[tools.write.policy]\nrun = [\n  " + rule + ",\n]\n", amend.End, ""},
		{"tables", "version = 1\n[[tools.write.policy.run]]\narg = \"/path\"\nprefix = \"etc\"\nmode = \"deny\"\n\n# else\n[[tools.write.policy.run]]\nmode = \"ask\"\n",
			"version = 1\n[[tools.write.policy.run]]\narg = \"/path\"\nprefix = \"etc\"\nmode = \"deny\"\n\n[[tools.write.policy.run]]\narg = \"/path\"\nconst = \"a.txt\"\nmode = \"unattended\"\n\n# else\n[[tools.write.policy.run]]\nmode = \"ask\"\n", 1, ""},
		{"tables, no rule matched", "version = 1\n[[tools.write.policy.run]]\narg = \"/path\"\nprefix = \"etc\"\nmode = \"deny\"\n\n# next\n[tools.read.policy]\nrun = \"ask\"\n",
			"version = 1\n[[tools.write.policy.run]]\narg = \"/path\"\nprefix = \"etc\"\nmode = \"deny\"\n\n[[tools.write.policy.run]]\narg = \"/path\"\nconst = \"a.txt\"\nmode = \"unattended\"\n\n# next\n[tools.read.policy]\nrun = \"ask\"\n", amend.End, ""},
		{"a word for all tools", "version = 1\n[tools.\"*\".policy]\nrun = \"ask\"\n",
			"version = 1\n[tools.\"*\".policy]\nrun = \"ask\"\n\n# A copy of the list of [tools.\"*\".policy], with one rule more.\n[tools.write.policy]\nrun = [\n  " + rule + ",\n  { mode = \"ask\" },\n]\n", 0, "*"},
		{"a list for some tools", "version = 1\n[tools.\"w*\".policy]\nrun = [\n  { arg = \"/path\", prefix = \"etc\", mode = \"deny\" }, # no\n  { mode = \"ask\" },\n]\n",
			"version = 1\n[tools.\"w*\".policy]\nrun = [\n  { arg = \"/path\", prefix = \"etc\", mode = \"deny\" }, # no\n  { mode = \"ask\" },\n]\n\n# A copy of the list of [tools.\"w*\".policy], with one rule more.\n[tools.write.policy]\nrun = [\n  { arg = \"/path\", prefix = \"etc\", mode = \"deny\" }, # no\n  " + rule + ",\n  { mode = \"ask\" },\n]\n", 1, "w*"},
		{"tables for all tools", "version = 1\n[[tools.\"*\".policy.run]]\nmode = \"ask\"\n[tools.write]\nparameters.path = { type = \"path\" }\n",
			"version = 1\n[[tools.\"*\".policy.run]]\nmode = \"ask\"\n[tools.write]\nparameters.path = { type = \"path\" }\n\n# A copy of the list of [tools.\"*\".policy], with one rule more.\n[tools.write.policy]\nrun = [\n  " + rule + ",\n  { mode = \"ask\" },\n]\n", 0, "*"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := amend.Before("p.toml", []byte(test.before), "write", rule, test.at)
			if err != nil || string(c.Text) != test.want || c.Copied != test.copied {
				t.Fatalf("%v, copied %q\n%s", err, c.Copied, c.Text)
			}
			if line := strings.Split(string(c.Text), "\n")[c.Line-1]; !strings.Contains(line, "a.txt") && !strings.Contains(line, "[[") {
				t.Errorf("line %d is %q", c.Line, line)
			}
			if _, notes, err := c.Prove(definition); err != nil {
				t.Errorf("%v %q", err, notes)
			}
		})
	}
}

// Several rules are added in their order, for all forms of a list.
func TestSeveral(t *testing.T) {
	const second = `{ arg = "/path", const = "b.txt", mode = "unattended" }`
	for name, before := range map[string]string{
		"a word":   "version = 1\n[tools.write]\npolicy.run = \"ask\"\n",
		"lines":    "version = 1\n[tools.write.policy]\nrun = [\n  { arg = \"/path\", prefix = \"etc\", mode = \"deny\" },\n]\n",
		"one line": "version = 1\n[tools.write.policy]\nrun = [{ arg = \"/path\", prefix = \"etc\", mode = \"deny\" }, { mode = \"ask\" }]\n",
		"tables":   "version = 1\n[[tools.write.policy.run]]\narg = \"/path\"\nprefix = \"etc\"\nmode = \"deny\"\n\n[[tools.write.policy.run]]\nmode = \"ask\"\n",
		"no rules": "version = 1\n[tools.write.policy]\nrun = []\n",
		"a pack":   "version = 1\nuse = [\"coding\"]\n[tools.Write.policy]\nrun = [\n  { arg = \"/file_path\", prefix = \"etc\", mode = \"deny\" },\n]\n",
	} {
		tool := stopgate.ToolName("write")
		rules := rule + ", " + second
		if name == "a pack" {
			tool, rules = "Write", strings.ReplaceAll(rules, "/path", "/file_path")
		}
		for _, at := range []int{0, amend.End} {
			if name == "no rules" && at == 0 || name == "a word" && at == amend.End { // no question can have that position
				continue
			}
			c, err := amend.Before("p.toml", []byte(before), tool, rules, at)
			first, last := strings.Index(string(c.Text), "a.txt"), strings.Index(string(c.Text), "b.txt")
			if err != nil || first < 0 || last < first || strings.Count(string(c.Text), "unattended") != 2 {
				t.Errorf("%s at %d: %v\n%s", name, at, err, c.Text)
			}
		}
	}
}

// The rule is added to those of the file, which come before those of packs: after the last of them, in
// the table of the tool, or in a new one.
func TestBesidePacks(t *testing.T) {
	const add = `{ arg = "/command", const = "make it", mode = "unattended" }`
	bash := stopgate.ToolDefinition{Name: "bash", Schema: []byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}`)}
	for before, want := range map[string]string{
		"version = 1\nuse = [\"coding\"]\n": "version = 1\nuse = [\"coding\"]\n\n[tools.Bash.policy]\nrun = [\n  " + add + ",\n]\n",
		"version = 1\nuse = [\"coding\"]\n[tools.Bash.policy]\n# none yet\n[gate]\nstrict = true\n":                                          "version = 1\nuse = [\"coding\"]\n[tools.Bash.policy]\nrun = [\n  " + add + ",\n]\n# none yet\n[gate]\nstrict = true\n",
		"version = 1\nuse = [\"coding\"]\n[tools.Bash.policy]\nrun = [\n  { arg = \"/command\", const = \"a\", mode = \"ask\" }, # one\n]\n": "version = 1\nuse = [\"coding\"]\n[tools.Bash.policy]\nrun = [\n  { arg = \"/command\", const = \"a\", mode = \"ask\" }, # one\n  " + add + ",\n]\n",
	} {
		for _, at := range []int{amend.End, 20} {
			c, err := amend.Before("p.toml", []byte(before), "bash", add, at)
			if err != nil || string(c.Text) != want || c.Copied != "" {
				t.Errorf("at %d: %v, copied %q\n%s", at, err, c.Copied, c.Text)
				continue
			}
			if line := strings.Split(string(c.Text), "\n")[c.Line-1]; !strings.Contains(line, "make it") {
				t.Errorf("line %d is %q", c.Line, line)
			}
			if _, notes, err := c.Prove(bash); err != nil {
				t.Errorf("%v %q", err, notes)
			}
		}
	}
	c, err := amend.Before("p.toml", []byte("version = 1\nuse = [\"coding\"]\n"), "other", `{ arg = "/path", const = "a.txt", mode = "unattended" }`, 0)
	if err != nil || c.Copied != "*" || !strings.HasSuffix(string(c.Text), "[tools.other.policy]\nrun = [\n  "+rule+",\n  { mode = \"ask\", reason = \"no rule is about this tool; look at what it does with these arguments\" },\n]\n") {
		t.Errorf("%v, copied %q\n%s", err, c.Copied, c.Text)
	}
}

// Proves K1: if a shared table declares parameters of other tools, the tool gets its own, so that
// the rule leaves nothing open; their meaning does not change.
func TestDeclares(t *testing.T) {
	shared := "version = 1\ngate.strict = true\n[tools.\"*\"]\nparameters.path = { type = \"path\" }\nparameters.target = { type = \"path\" }\npolicy.run = \"ask\"\n[[guard]]\non = \"path\"\nglob = \"**/.env*\"\nmode = \"deny\"\n"
	d := definition
	d.Schema = []byte(strings.ReplaceAll(string(d.Schema), `,"x-stopgate-type":"path"`, ""))
	c, err := amend.Before("p.toml", []byte(shared), "write", rule, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, notes, err := c.Prove(d)
	want := "\n[tools.write.parameters]\npath = { type = \"path\", required = true }\ntext = { type = \"string\" }\n"
	if err != nil || !strings.HasSuffix(string(c.Text), want) {
		t.Errorf("%v %q\n%s", err, notes, c.Text)
	}
	d.Schema = []byte(`{"type":"object","properties":{"path":{"type":"string"},"more":{"type":"object","properties":{"x":{"type":"string"}}}}}`)
	if c, err = amend.Before("p.toml", []byte(shared), "write", rule, 0); err == nil {
		_, _, err = c.Prove(d)
	}
	if err == nil || !strings.Contains(err.Error(), "SG0401") {
		t.Errorf("%v\n%s", err, c.Text)
	}
}

// Proves K0i, D25-38: a rule that an earlier one covers, that changes nothing, or that would change
// something else is not added.
func TestRefused(t *testing.T) {
	head := "version = 1\n[tools.write.policy]\nrun = "
	for _, test := range []struct{ name, before, rule, want string }{
		{"an earlier rule covers it", head + "[{ arg = \"/path\", const = \"a.txt\", mode = \"ask\" }, { mode = \"ask\" }]\n", rule, "mistakes"},
		{"a guard stands before it", head + "[{ mode = \"deny\" }, { mode = \"ask\" }]\n", rule, "mistakes"},
		{"it loosens a refusal", head + "[{ arg = \"/text\", const = \"x\", mode = \"ask\" }, { mode = \"deny\" }]\n", rule, "more than it should"},
		{"a guard on the same value", head + "[{ arg = \"/text\", const = \"x\", mode = \"ask\" }, { mode = \"ask\" }]\n[[guard]]\non = \"path\"\nglob = \"a.txt\"\nmode = \"deny\"\n", rule, "change nothing"},
		{"a mistake in the file", head + "[{ mode = \"sk\" }]\n", rule, "has mistakes"},
		{"a mistake in the rule", head + "[{ mode = \"ask\" }, { mode = \"ask\" }]\n", `{ arg = "/path", mode = "unattended" }`, "mistakes"},
		{"a trap in a strict file", "version = 1\ngate.strict = true\n[tools.write.policy]\nrun = [{ arg = \"/text\", const = \"x\", mode = \"ask\" }, { mode = \"ask\" }]\n", `{ arg = "/text", const = "y", mode = "unattended" }`, "mistakes"},
		{"another table has the name", "version = 1\n[tools.\"*\".policy]\nrun = [{ arg = \"/path\", const = \"x\", mode = \"deny\" }, { mode = \"ask\" }]\n[tools.write.policy]\nresult = \"ask\"\n", rule, "form"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := amend.Before("p.toml", []byte(test.before), "write", test.rule, 1)
			if err == nil {
				_, _, err = c.Prove(definition)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\n%s", err, c.Text)
			}
		})
	}
	if _, err := amend.Before("p.toml", []byte(head+"\"ask\"\n"), "write", rule, 7); !errors.Is(err, amend.ErrForm) {
		t.Error(err)
	}
}
