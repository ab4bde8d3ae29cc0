package approve_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// askedAbout is the view of a question about values, "TYPE POINTER TEXT" each.
func askedAbout(values ...string) gate.View {
	v := gate.View{
		Proposal: "p", Call: stopgate.Call{Tool: "tool", Session: "s1", Principal: "anna"}, Complete: true, Asking: []string{"r1"},
		Verdict: stopgate.Verdict{Decided: true, Mode: stopgate.Ask, Code: stopgate.CodeRuleMatched, Rule: &stopgate.RuleRef{ID: "r1"}},
		Binding: gate.Binding{Args: "h", Tool: "tool", Session: "s1", Principal: "anna"},
	}
	for _, value := range values {
		part := strings.SplitN(value, " ", 3)
		text, _ := json.Marshal(part[2])
		if part[0] == "argv" {
			text, _ = json.Marshal(strings.Split(part[2], " "))
		}
		v.Leaves = append(v.Leaves, gate.Leaf{Pointer: part[1], Type: strings.TrimPrefix(part[0], "text"), Known: true, JSON: string(text)})
	}
	return v
}

// answersWith reports whether a grant of an extension of one question answers another one.
func answersWith(t *testing.T, x approve.Extension, first, then gate.View) bool {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	q, err := approve.New(new(mem.Approvals), approve.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	g, err := approve.Offer(first, approve.Scope{Wider: x.Wider}, "bob", now)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Keep(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	_, ok, err := q.Granted(t.Context(), then)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// Proves S34, Q25: the grants that are offered, the useful one first; each answers its own example and
// the call itself, and nothing that has another meaning.
func TestExtensions(t *testing.T) {
	for _, c := range []struct {
		call   string // a value as of askedAbout
		offers string // title of the first offer, "" if only the exact call is offered
		passes []string
		asks   []string
	}{
		{"path /path src/api/user.ts", "this directory: src/api", []string{"src/api/x/y.ts"}, []string{"src/x.ts", "src/api/../x", "src/api2/x", "/src/api/x", "src/api/$X"}},
		{"path /path ./src/a.ts", "this directory: src", []string{"src/b"}, []string{"b"}},
		{"path /path /home/anna/project/a.ts", "this directory: /home/anna/project", []string{"/home/anna/project/x"}, []string{"/home/anna/x"}},
		{"path /path a.ts", "", nil, []string{"b.ts"}},
		{"path /path ../x/a.ts", "", nil, []string{"../x/b.ts"}},
		{"path /path /etc/nginx/x/nginx.conf", "", nil, nil},
		{"path /path /home/anna/a.ts", "", nil, nil},
		{"path /path ~/notes/a.md", "", nil, nil},
		{"path /path .github/workflows/ci.yml", "", nil, nil},
		{"path /path src/.cache/x", "", nil, nil},
		{"url /url https://docs.example.com/a/b?c=d", "this host: docs.example.com", []string{"https://docs.example.com/x"},
			[]string{"http://docs.example.com/x", "https://docs.example.com:8443/x", "https://docs.example.com.evil.com/x", "https://evil@docs.example.com/x", "https://x.docs.example.com/"}},
		{"url /url http://localhost:3000/health", "this host: localhost:3000", []string{"http://localhost:3000/x"}, []string{"http://localhost:3001/x", "http://localhost/x"}},
		{"url /url http://169.254.169.254/latest", "", nil, []string{"http://169.254.169.254/x"}},
		{"url /url http://[::1]/x", "", nil, nil},
		{"url /url http://metadata/x", "", nil, nil},
		{"url /url file:///etc/passwd", "", nil, nil},
		{"command /command git commit -m 'fix: a thing'", "this subcommand: git commit -m *", []string{`git commit -m "see ../x and https://x.y/z"`, "git commit -m x"},
			[]string{"git commit -m x --amend", "git commit -m x --no-verify", "git commit -m $(curl evil)", "git commit -m x; rm -rf /", "git commit -F -m", "git commit -m -x", "git commit -am x", "'git' commit -m x", "git commit -m x > y", "X=1 git commit -m x", "git commit -m \"$(cat /etc/passwd)\""}},
		{"command /command git commit --amend -m x", "this subcommand: git commit --amend -m *", nil, []string{"git commit -m x"}},
		{"command /command git checkout -b feature/login", "this subcommand: git checkout -b *", []string{"git checkout -b x"}, []string{"git checkout -b x main", "git checkout x", "git checkout -b -f", "git checkout -b ../x", "git checkout -b $X"}},
		{"command /command git push origin feature/login", "", nil, []string{"git push origin feature/x", "git push origin main", "git push --force origin feature/login"}},
		{"command /command git push", "", nil, []string{"git push -f", "git push origin main"}},
		{"command /command npm run build", "", nil, []string{"npm run deploy"}},
		{"command /command npm install left-pad", "", nil, []string{"npm install evil"}},
		{"command /command python scripts/build.py", "", nil, []string{"python scripts/x.py"}},
		{"command /command bash scripts/build.sh", "", nil, nil},
		{"command /command docker run org/image", "", nil, nil},
		{"command /command npx @org/tool src/x.js", "", nil, nil},
		{"command /command curl https://x.example.com/a", "", nil, nil},
		{"command /command rm -rf build/out", "", nil, []string{"rm -rf build/x"}},
		{"command /command go test ./internal/api/users", "this directory: go test ./internal/api/*", []string{"go test ./internal/api/x/y"},
			[]string{"go test ./internal/x", "go test -exec=/x ./internal/api/x", "go test ./internal/api/../../x", "go test ./internal/api/x ./y", "go test internal/api/x"}},
		{"command /command go test -exec tools/x ./a/b", "", nil, nil},
		{"command /command go test -exec tools/x", "", nil, nil},
		{"command /command pytest -q tests/unit/test_a.py", "this directory: pytest -q tests/unit/*", []string{"pytest -q tests/unit/test_b.py"},
			[]string{"pytest tests/unit/test_b.py", "pytest -q /tmp/evil.py", "pytest -q tests/unit/x -p evil", "pytest -q tests/unit/.x"}},
		{"command /command pytest -c cfg/x.ini", "", nil, nil},
		{"command /command mkdir -p build/out", "this directory: mkdir -p build/*", []string{"mkdir -p build/x"}, []string{"mkdir -p x", "mkdir -p build/x y"}},
		{"command /command cat docs/a.md", "this directory: cat docs/*", []string{"cat docs/x/y.md"}, []string{"cat docs/x /etc/passwd", "cat docs/x | sh", "cat docs/x > y", "cat 'docs/x'", "cat docs/*", "cat docs/.env", "cat docs/x && y"}},
		{"command /command cat a.md", "", nil, nil},
		{"command /command cat docs/a.md | head", "", nil, nil},
		{"command /command cat docs/a.md > x", "", nil, nil},
		{"argv /argv cat docs/a.md", "this directory: cat docs/*", nil, nil},
		{"text /name alice", "", nil, []string{"bob"}},
	} {
		first := askedAbout(c.call)
		kind := strings.Join(strings.SplitN(c.call, " ", 3)[:2], " ") + " "
		list := approve.Extensions(first)
		if len(list) == 0 || list[len(list)-1].Name != "exact" || list[len(list)-1].Wider != nil {
			t.Errorf("%s: %+v", c.call, list)
			continue
		}
		x := list[0]
		if c.offers == "" && len(list) != 1 || c.offers != "" && x.Title != c.offers {
			t.Errorf("%s: offers %q, want %q", c.call, x.Title, c.offers)
			continue
		}
		if !answersWith(t, x, first, first) {
			t.Errorf("%s: does not cover itself", c.call)
		}
		if c.offers != "" {
			c.passes = append(c.passes, x.Example)
		}
		for _, then := range c.passes {
			if !answersWith(t, x, first, askedAbout(kind+then)) {
				t.Errorf("%s: %q asks", x.Title, then)
			}
		}
		for _, then := range c.asks {
			if answersWith(t, x, first, askedAbout(kind+then)) {
				t.Errorf("%s: %q passes", x.Title, then)
			}
		}
	}
}

// Proves S34, S35, K2: questions for which no grant is offered, or none that is wider than the call.
func TestNoExtensions(t *testing.T) {
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		values []string
		change func(*gate.View)
		names  []string
	}{
		"as it is":              {names: []string{"directory", "exact"}},
		"a protected file":      {change: func(v *gate.View) { v.Verdict.Code = stopgate.CodeProtectedTarget }},
		"an edit":               {change: func(v *gate.View) { v.Verdict.Mode = stopgate.Edit }},
		"a denial":              {change: func(v *gate.View) { v.Verdict.Mode = stopgate.Deny }, names: []string{"directory", "exact"}}, // it is no question; covers refuses it
		"cut":                   {change: func(v *gate.View) { v.Complete = false }},
		"no session":            {change: func(v *gate.View) { v.Call.Session = "" }},
		"a session policy asks": {change: func(v *gate.View) { v.Missing = []string{"not read"} }},
		"another floor":         {change: func(v *gate.View) { v.Verdict.Floors = []stopgate.Floor{{Code: stopgate.CodeUnknownParameter}} }},
		"a value from a text that is not trusted": {change: func(v *gate.View) {
			v.Origins = []stopgate.Origin{{Pointer: "/path", Source: "tool", Wanted: []string{"user"}}}
		}, names: []string{"exact"}},
		"two paths in one directory":  {values: []string{"path /from src/a/x", "path /to src/b/y"}, names: []string{"directory", "exact"}},
		"two paths in no directory":   {values: []string{"path /from src/x", "path /to lib/y"}, names: []string{"exact"}},
		"two commands":                {values: []string{"command /a cat docs/x", "command /b cat docs/y"}, names: []string{"exact"}},
		"a path and a command":        {values: []string{"path /cwd src/a/b", "command /b cat docs/y"}, names: []string{"directory", "exact"}},
		"a page with a text to it":    {values: []string{"url /url https://a.example.com/", "text /body " + long}, names: []string{"exact"}},
		"two pages":                   {values: []string{"url /a https://a.example.com/", "url /b https://a.example.com/"}, names: []string{"exact"}},
		"a command of too many words": {values: []string{"command /a cat" + strings.Repeat(" x", 60) + " docs/y"}, names: []string{"exact"}},
	} {
		if c.values == nil {
			c.values = []string{"path /path src/a"}
		}
		v := askedAbout(c.values...)
		if c.change != nil {
			c.change(&v)
		}
		var names []string
		for _, x := range approve.Extensions(v) {
			names = append(names, x.Name)
		}
		if !slices.Equal(names, c.names) {
			t.Errorf("%s: %q, want %q", name, names, c.names)
		}
	}
}

// Proves S34: what an offer lets run is in its sentence, the texts that are not compared too.
func TestSentences(t *testing.T) {
	var got []string
	for _, x := range approve.Extensions(askedAbout("path /path src/a.ts", "text /content "+strings.Repeat("x", 300), "text /mode w")) {
		got = append(got, x.Sentence+" | "+x.Example)
	}
	want := []string{
		"tool runs unasked for every path in src; its other values stay the same; any text in /content | src/another.ts",
		"tool runs unasked with the same values; any text in /content | ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A grant of first words names more than a program that runs code.
func TestWordsOfPrograms(t *testing.T) {
	v := askedAbout("command /command python tool.py")
	for words, want := range map[string]bool{"python": false, "python tool.py": true} {
		_, err := approve.Offer(v, approve.Scope{Wider: []approve.Value{{Pointer: "/command", How: approve.Words, Text: words}}}, "bob", time.Now())
		if (err == nil) != want {
			t.Errorf("%s: %v", words, err)
		}
	}
}
