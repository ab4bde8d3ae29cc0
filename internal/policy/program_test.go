package policy_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// layers compiles several files; the name of an untrusted one begins with "project".
func layers(t testing.TB, files ...string) *policy.Program {
	t.Helper()
	var all []policy.Source
	for i, text := range files {
		name := "user" + string(rune('0'+i))
		if rest, ok := strings.CutPrefix(text, "project\n"); ok {
			name, text = "project"+string(rune('0'+i)), rest
		}
		all = append(all, policy.Source{Name: name, Text: []byte("version = 1\n" + text), Trusted: strings.HasPrefix(name, "user")})
	}
	p, list := prove.Compile(all, policy.Options{})
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// Proves S36, Q26: the hash of a program depends on what its files mean and on which
// of them may loosen, not on how they are written.
func TestProgramHash(t *testing.T) {
	plain := layers(t, "[tools.t.policy]\nrun = \"ask\"\n")
	same := layers(t, "# a comment\n[tools.t.policy]\nrun = [ { mode = \"ask\" } ]\n")
	if plain.Hash() != same.Hash() || len(plain.Hash()) != 64 {
		t.Errorf("%s and %s", plain.Hash(), same.Hash())
	}
	for _, other := range []*policy.Program{
		layers(t, "[tools.t.policy]\nrun = \"edit\"\n"),
		layers(t, "project\n[tools.t.policy]\nrun = \"ask\"\n"),
		layers(t, "[tools.t.policy]\nrun = \"ask\"\n", "[tools.t.policy]\nrun = \"ask\"\n"),
	} {
		if other.Hash() == plain.Hash() {
			t.Error("two meanings have one hash")
		}
	}
}

// Proves S3, K38, K33: settings are the operators', the strictest of each; a project's
// file has none.
func TestSettings(t *testing.T) {
	s := layers(t, "[gate]\nunknown_tool = \"ask\"\nunknown_params = \"allow\"\non_schema_violation = \"ask\"\nenforcement = \"observe\"\n[audit]\nfile = \"a\"\n",
		"[gate]\nunknown_params = \"deny\"\nstrict = true\n[audit]\nfile = \"b\"\n[upstream.x]\nbase_url = \"u\"\n",
		"project\n[tools.t.policy]\nrun = \"ask\"\n").Settings()
	if s.Gate.UnknownTool != stopgate.Deny || s.Gate.UnknownParams != syntax.ParamDeny || s.Gate.OnSchemaViolation != stopgate.Deny ||
		s.Gate.Enforcement == "observe" || !s.Gate.Strict {
		t.Errorf("%+v", s.Gate)
	}
	if len(s.Tables) != 2 || s.Tables["audit"].Get("file").Value.Text != "a" {
		t.Errorf("%v", s.Tables)
	}
	if s := layers(t, "[tools.t.policy]\nrun = \"ask\"\n").Settings(); s.Gate.UnknownTool != stopgate.Deny {
		t.Errorf("%+v", s.Gate)
	}
}

// Proves D25-32, FM10: a program is not made from files with mistakes, and all of them
// are reported.
func TestCompileRefuses(t *testing.T) {
	p, list := prove.Compile([]policy.Source{
		{Name: "a", Text: []byte("version = 1\n[tools.t.policy]\nrun = \"aks\"\n"), Trusted: true},
		{Name: "b", Text: []byte("version = 1\n[tools.t.parameters.x]\ntype = \"string\"\n[tools.t.policy]\nrun = [ { arg = \"/y\", const = 1, mode = \"ask\" } ]\n"), Trusted: true},
	}, policy.Options{})
	if p != nil || len(list.Errors()) < 2 {
		t.Fatalf("%v", list)
	}
}

// Proves S29, S36: every operator's file has a judge of its own, a judge is a part of
// the meaning of a policy, and evaluations do not depend on it.
func TestJudgesOfFiles(t *testing.T) {
	const rules = "[tools.a.policy]\nrun = \"unattended\"\n"
	compile := func(texts ...string) *policy.Program {
		t.Helper()
		return layers(t, texts...)
	}
	plain := compile(rules)
	one := compile(rules + "[judge]\nmodel = \"m\"\n")
	other := compile(rules + "[judge]\nmodel = \"m\"\nthreshold = 0.9\n")
	elsewhere := compile(rules + "[judge]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1\"\n")
	both := compile(rules+"[judge]\nmodel = \"a\"\n", rules+"[judge]\nmodel = \"b\"\n")
	if len(plain.Judges()) != 0 || len(one.Judges()) != 1 || len(both.Judges()) != 2 {
		t.Error(len(plain.Judges()), len(one.Judges()), len(both.Judges()))
	}
	if plain.Hash() == one.Hash() || one.Hash() == other.Hash() || one.Hash() != elsewhere.Hash() {
		t.Error("the hash of a policy depends on the judge, and not on its address")
	}
	e := one.Bind(stopgate.Call{Tool: "a"}).Evaluate()
	e.Feed([]byte(`{}`))
	if v := e.Close(stopgate.Ended); v.Mode != stopgate.Unattended {
		t.Errorf("%+v", v)
	}
}

// Proves Q24: the program reports whether it follows links.
func TestPathResolution(t *testing.T) {
	source := []policy.Source{{Name: "p", Text: []byte("version = 1\n"), Trusted: true}}
	for want, o := range map[string]policy.Options{"lexical": {}, "followed": {Links: new(condition.Links)}} {
		p, list := prove.Compile(source, o)
		if p == nil {
			t.Fatal(list)
		}
		if got := p.PathResolution(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Proves H12: the key of a session policy is one of paths where a table of one of its tools
// says so, in whichever file.
func TestKeysOfPaths(t *testing.T) {
	const session = "[[session]]\ntype = \"require\"\nbefore = \"merge\"\nrequires = \"fs_*\"\nkey = \"/file\"\n"
	for _, c := range []struct {
		name, tables, more string
		want               bool
	}{
		{"no table", "", "", false},
		{"of a tool that has to come first", "[tools.fs_read.parameters.file]\ntype = \"path\"\n", "", true},
		{"by a further name", "[tools.read]\nalso = [\"fs_read\"]\n[tools.read.parameters.file]\ntype = \"path\"\n", "", true},
		{"of many tools", "[tools.\"m*\".parameters.file]\ntype = \"path\"\n", "", true},
		{"another type", "[tools.fs_read.parameters.file]\ntype = \"string\"\n", "", false},
		{"another argument", "[tools.fs_read.parameters.name]\ntype = \"path\"\n", "", false},
		{"another tool", "[tools.read.parameters.file]\ntype = \"path\"\n", "", false},
		{"values are asked for", "[tools.fs_read.parameters.file]\ntype = \"path\"\n", "key_type = \"value\"\n", false},
		{"paths are asked for", "", "key_type = \"path\"\n", true},
	} {
		p := layers(t, session+c.more, c.tables)
		if got := p.SessionPolicies()[0].KeyIsPath; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Proves S39, H10: session policies govern a tool under each of its names, because facts have
// the name of its table.
func TestSessionPoliciesGovernEveryName(t *testing.T) {
	const tools = "[tools.change]\nalso = [\"Edit\", \"patch_file\"]\npolicy.run = \"unattended\"\n[tools.look]\nalso = [\"Read\"]\npolicy.run = \"unattended\"\n"
	for name, c := range map[string]struct{ table, governs string }{
		"a table's name":   {"type = \"limit\"\ntools = [\"change\"]\nmax_calls = 0\n", "change"},
		"a further name":   {"type = \"limit\"\ntools = [\"Edit\"]\nmax_calls = 0\n", "change"},
		"a glob":           {"type = \"limit\"\ntools = [\"patch_*\"]\nmax_calls = 0\n", "change"},
		"before":           {"type = \"require\"\nbefore = \"Edit\"\nrequires = \"Read\"\n", "change look"},
		"the usual tools":  {"type = \"read_before_write\"\n", "change look"},
		"tools of its own": {"type = \"read_before_write\"\nread_tools = [\"look\"]\nwrite_tools = [\"Edit\"]\n", "change look"},
	} {
		registry, err := layers(t, tools+"[[session]]\n"+c.table).Sessions()
		if err != nil {
			t.Fatal(err)
		}
		var governs []string
		for _, tool := range []stopgate.ToolName{"change", "look", "other"} {
			if len(registry.PoliciesFor(tool)) > 0 {
				governs = append(governs, string(tool))
			}
		}
		if got := strings.Join(governs, " "); got != c.governs {
			t.Errorf("%s: governs %q, want %q", name, got, c.governs)
		}
	}
}

// Proves S22, I15: the file of another project tightens, by its own root, and neither makes
// a tool known nor has settings.
func TestFileOfAnotherProject(t *testing.T) {
	here := policy.Source{Name: "here", Trusted: true, Text: []byte("version = 1\n[tools.t]\npolicy.run = \"unattended\"\n")}
	other := policy.Source{Name: "other", Trusted: true, Tightens: true, Root: "/other",
		Text: []byte("version = 1\n[audit]\nfile = \"a\"\n[[guard]]\non = \"path\"\nprefix = \"conf/\"\nmode = \"deny\"\n[tools.u.policy]\nrun = \"unattended\"\n")}
	o := policy.Options{Root: "/here", Dir: "/other"}
	p, list := prove.Compile([]policy.Source{here, other}, o)
	if p == nil {
		t.Fatal(list)
	}
	if len(p.Settings().Tables) != 0 {
		t.Error("it has settings")
	}
	for _, c := range []struct {
		tool stopgate.ToolName
		args string
		want stopgate.Mode
	}{
		{"t", `{"p":"conf/a"}`, stopgate.Deny},
		{"t", `{"p":"/other/conf/a"}`, stopgate.Deny},
		{"t", `{"p":"src/a"}`, stopgate.Unattended},
		{"u", `{}`, stopgate.Ask},
	} {
		call := stopgate.Call{Tool: c.tool}
		if c.tool == "t" {
			call.Definition = &stopgate.ToolDefinition{Name: "t", Schema: []byte(`{"type":"object","properties":{"p":{"type":"string","x-stopgate-type":"path"}}}`)}
		}
		e := p.Bind(call).Evaluate()
		e.Feed([]byte(c.args))
		if v := e.Close(stopgate.Ended); v.Mode != c.want {
			t.Errorf("%s %s: %v", c.tool, c.args, v)
		}
	}
	moved := other
	moved.Root = "/elsewhere"
	if o.Identity(other) == o.Identity(moved) {
		t.Error("two roots have one identity")
	}
}

// Proves H20: a long file that nobody trusted is refused before it is read.
func TestUntrustedFilesAreShort(t *testing.T) {
	text := append([]byte("version = 1\n"), bytes.Repeat([]byte{'\n'}, 1<<20-12)...)
	for _, test := range []struct {
		name    string
		text    []byte
		trusted bool
		want    bool
	}{
		{"1 MiB", text, false, true},
		{"a byte more", append(text, '\n'), false, false},
		{"a byte more, trusted", append(text, '\n'), true, true},
	} {
		p, list := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: test.text, Trusted: test.trusted}}, policy.Options{})
		if (p != nil) != test.want || !test.want && (len(list) != 1 || list[0].Code != diag.TooLarge) {
			t.Errorf("%s: %v", test.name, list)
		}
	}
}
