package install_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/host/install"
)

// Proves S51: settings with comments keep them, byte for byte, if the host accepts them;
// uninstalling restores the file, and no comment of the user is lost.
func TestComments(t *testing.T) {
	for host, event := range map[string]string{"gemini-cli": "BeforeTool", "qwen-code": "PreToolUse", "crush": "PreToolUse"} {
		p, err := install.Make(host, install.Location{Scope: install.User, Home: "/home/u"}, install.Command{Program: "/opt/my tools/stopgate"})
		if err != nil {
			t.Fatal(err)
		}
		for _, before := range []string{
			"{ // mine\n  \"a\": 1, // one\n  /* two */ \"b\": [1, 2,], // three\n}\n",
			"{\n  // nothing yet\n}\n",
			"// first\n{\"a\": \"// no comment\"} // last\n",
			"{\n  \"hooks\": {\n    // theirs\n    \"" + event + "\": [\n      {\"command\": \"other\"}, // keep\n    ],\n  },\n}\n",
			"{\"a\":1,\"hooks\":{/*x*/}}",
		} {
			after, err := p.Install([]byte(before))
			if err != nil {
				t.Fatalf("%s: %v\n%s", host, err, before)
			}
			if !p.Installed(after) || len(p.Lines(after)) == 0 {
				t.Errorf("%s: not installed:\n%s", host, after)
			}
			for _, comment := range []string{"// mine", "// one", "/* two */", "// three", "// nothing yet", "// first", "// no comment", "// last", "// theirs", "// keep", "/*x*/"} {
				if strings.Contains(before, comment) && !strings.Contains(string(after), comment) {
					t.Errorf("%s: %q is gone:\n%s", host, comment, after)
				}
			}
			second, err := p.Install(after)
			if err != nil || string(second) != string(after) {
				t.Errorf("%s: installing twice: %v\n%s", host, err, second)
			}
			back, err := p.Uninstall(after)
			if err != nil || string(back) != before && before != "{\"a\":1,\"hooks\":{/*x*/}}" {
				t.Errorf("%s: %v\n%q\nwas\n%q", host, err, back, before)
			}
		}
	}
	p, _ := install.Make("crush", install.Location{Scope: install.User, Home: "/home/u"}, install.Command{Program: "/bin/stopgate"})
	after, err := p.Install(nil)
	if err != nil {
		t.Fatal(err)
	}
	end := strings.LastIndex(string(after), "}")
	formatted := strings.TrimRight(string(after[:end]), "\n") + ", // last\n}\n"
	if back, err := p.Uninstall([]byte(formatted)); err != nil || string(back) != "{ // last\n}\n" {
		t.Errorf("a last comma: %v\n%s", err, back)
	}
	p, _ = install.Make("codex", install.Location{Scope: install.User, Home: "/home/u"}, install.Command{Program: "/bin/stopgate"})
	if _, err := p.Install([]byte("{} // mine\n")); err == nil || !strings.Contains(err.Error(), "codex may not read comments") {
		t.Errorf("codex: %v", err)
	}
}

// Proves S51: an older hook of stopgate in the same element as another hook is replaced and removed
// like any other, and the other one stays.
func TestSharedElements(t *testing.T) {
	p, err := install.Make("claude-code", install.Location{Scope: install.User, Home: "/home/u"}, install.Command{Program: "/bin/stopgate"})
	if err != nil {
		t.Fatal(err)
	}
	const before = `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type":"command","command":"other"},{"type":"command","command":"/old/stopgate hook claude-code"}]},
 {"hooks":[{"type":"command","command":"/older/stopgate hook claude-code"},{"type":"command","command":"/oldest/stopgate-hook claude-code"}]}]}}`
	const without = `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type":"command","command":"other"}]}]}}`
	after, err := p.Install([]byte(before))
	if err != nil || !p.Installed(after) || len(p.Lines(after)) != 1 || strings.Contains(string(after), "/old") || !strings.Contains(string(after), `"other"`) {
		t.Errorf("%v\n%s", err, after)
	}
	if p.Installed([]byte(strings.Replace(string(after), `"command":"other"}`, `"command":"other"},{"type":"command","command":"/old/stopgate hook claude-code"}`, 1))) {
		t.Error("an old hook beside another counts as nothing")
	}
	for _, text := range []string{string(after), before} {
		if back, err := p.Uninstall([]byte(text)); err != nil || string(back) != without {
			t.Errorf("%v\n%s", err, back)
		}
	}
	if _, err := p.Install([]byte(`{"hooks":[]}`)); err == nil || !strings.Contains(err.Error(), "something else than an object at hooks") {
		t.Errorf("%v", err)
	}
}
