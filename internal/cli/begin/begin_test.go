package begin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli/hosts"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/project"
)

// world is a home with settings and a project, for one test.
type world struct {
	t          testing.TB
	home, root string
}

// newWorld makes a world. Its files are those of the map: "~/" begins those of the home.
func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, filepath.Join(dir, "home"), filepath.Join(dir, "shop")}
	t.Setenv("HOME", w.home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"} {
		t.Setenv(name, "")
	}
	w.write("~/.profile", "")
	w.write(".git/HEAD", "")
	for name, text := range files {
		w.write(name, text)
	}
	return w
}

func (w *world) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(w.home, rest)
	}
	return filepath.Join(w.root, name)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := w.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o640)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// all returns the text and mode of every file and directory, without the state directory.
func (w *world) all() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(filepath.Dir(w.home), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, "/.local") {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			found[path] = "directory"
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = info.Mode().String() + " " + string(text)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// planner returns a planner with some agents.
func (w *world) planner(names ...string) *planner {
	w.t.Helper()
	files, err := os.OpenRoot(w.root)
	if err != nil {
		w.t.Fatal(err)
	}
	defer files.Close()
	p := &planner{root: w.root, home: w.home, userDir: config.Standard(w.root).UserDir, program: install.Command{Program: "/opt/stopgate"}, gate: "/opt/stopgate"}
	if p.project, err = project.Read(files.FS()); err != nil {
		w.t.Fatal(err)
	}
	for _, name := range names {
		h, err := hook.Lookup(name)
		if err != nil {
			w.t.Fatal(err)
		}
		p.found = append(p.found, hosts.Found{Host: h})
	}
	return p
}

// start makes all changes.
func (w *world) start(c choice, names ...string) ([]done, error) {
	w.t.Helper()
	p := w.planner(names...)
	out, err := p.plan(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return p.apply(out, c)
}

func (w *world) must(list []done, err error) []done {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func (w *world) stop(purge bool) []done {
	w.t.Helper()
	r, err := stop(w.root, purge, false, false)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Done
}

func (w *world) same(want map[string]string) {
	w.t.Helper()
	got := w.all()
	for path, text := range want {
		if got[path] != text {
			w.t.Errorf("%s: %q\nwant %q", path, got[path], text)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			w.t.Errorf("%s is left", path)
		}
	}
}

var agents = []string{"claude-code", "codex", "gemini-cli", "copilot-cli", "cursor", "qwen-code", "crush", "opencode", "kilo", "cline", "pi"}

var shop = map[string]string{
	"go.mod": "module shop\n", "api/a.go": "package api\n", "Makefile": "test:\n\tgo test ./...\n",
	".mcp.json":               "{\n  \"mcpServers\": {\n    \"github\": {\"command\": \"npx\", \"args\": [\"-y\", \"@modelcontextprotocol/server-github\"]}\n  }\n}\n",
	"~/.claude.json":          `{"a":1,"mcpServers":{"files":{"command":"fs"}}}`,
	"~/.claude/settings.json": "{\n  \"permissions\": {\"allow\": []}\n}",
	"~/.gemini/settings.json": "{\n  // mine\n  \"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": []},},\n}\n",
	"~/.codex/config.toml":    "model = \"x\" # best\n\n[mcp_servers.a]\ncommand = 'b'\n",
}

// After stop every file is as it was before start, byte for byte, with its mode, and no file and no directory is
// left. Both do nothing the second time.
func TestStartAndStop(t *testing.T) {
	w := newWorld(t, shop)
	before := w.all()
	list := w.must(w.start(choice{}, agents...))
	if len(list) < 15 {
		t.Errorf("%v", list)
	}
	if !strings.Contains(w.read(".mcp.json"), `"/opt/stopgate"`) || !strings.Contains(w.read("~/.gemini/settings.json"), "hook gemini-cli") {
		t.Error("no gate in the settings")
	}
	set, err := config.Discover(config.Standard(w.root))
	if err != nil || len(set.Files) != 1 || !set.Files[0].Trusted {
		t.Errorf("%v, %v", set, err)
	}
	info, err := os.Stat(w.path("~/.local/state/stopgate/start.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("journal: %v, %v", info, err)
	}
	middle := w.all()
	if list := w.must(w.start(choice{}, agents...)); len(list) > 0 {
		t.Errorf("the second time: %v", list)
	}
	w.same(middle)
	w.stop(false)
	w.same(before)
	if list := w.stop(false); len(list) > 0 {
		t.Errorf("the second stop: %v", list)
	}
	if exists(w.path("~/.local/state/stopgate/start.json")) {
		t.Error("the journal is left")
	}
}

// What others wrote into the settings meanwhile stays, and only the gate is taken out.
func TestStopKeepsWhatOthersWrote(t *testing.T) {
	w := newWorld(t, shop)
	w.must(w.start(choice{}, agents...))
	w.write(".mcp.json", strings.Replace(w.read(".mcp.json"), `"mcpServers": {`, `"mcpServers": {`+"\n    \"mine\": {\"command\": \"y\"},", 1))
	w.write("~/.claude/settings.json", strings.Replace(w.read("~/.claude/settings.json"), `"allow": []`, `"allow": ["Read"]`, 1))
	w.write("stopgate.toml", w.read("stopgate.toml")+"# mine\n")
	list := w.stop(false)
	if want := strings.Replace(shop[".mcp.json"], `"mcpServers": {`, `"mcpServers": {`+"\n    \"mine\": {\"command\": \"y\"},", 1); w.read(".mcp.json") != want {
		t.Errorf("%s", w.read(".mcp.json"))
	}
	if want := strings.Replace(shop["~/.claude/settings.json"], `"allow": []`, `"allow": ["Read"]`, 1); w.read("~/.claude/settings.json") != want {
		t.Errorf("%s", w.read("~/.claude/settings.json"))
	}
	if !strings.Contains(w.read("stopgate.toml"), "# mine") || !slices.ContainsFunc(list, func(d done) bool { return d.Part == partPolicy && d.Did == "kept" }) {
		t.Errorf("the policy: %v", list)
	}
}

// A policy that was changed is removed with purge only.
func TestPurge(t *testing.T) {
	w := newWorld(t, shop)
	before := w.all()
	w.must(w.start(choice{}, "claude-code"))
	w.write("stopgate.toml", "version = 1\n")
	w.stop(true)
	w.same(before)
}

// A policy that is there stays, and is not trusted.
func TestStartKeepsAPolicy(t *testing.T) {
	w := newWorld(t, map[string]string{"stopgate.toml": "version = 1\n[tools.\"*\".policy]\nrun = \"unattended\"\n", "go.mod": "module x\n"})
	before := w.all()
	p := w.planner()
	out, err := p.plan(choice{})
	if err != nil || !out.kept || len(out.changes) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	list, err := out.judged(false, w.home)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Text == "curl https://example.com" && e.Mode == "unattended" {
			t.Error("the screen takes the policy for trusted")
		}
	}
	w.must(p.apply(out, choice{}))
	w.same(before)
}

// An error half way leaves what was done in the journal, and stop undoes it.
func TestStopUndoesAPart(t *testing.T) {
	w := newWorld(t, shop)
	before := w.all()
	p := w.planner(agents...)
	out, err := p.plan(choice{})
	if err != nil {
		t.Fatal(err)
	}
	w.write("~/.codex/config.toml", "model = \"other\"\n")
	before[w.path("~/.codex/config.toml")] = "-rw-r----- model = \"other\"\n"
	list, err := p.apply(out, choice{})
	if err == nil || !strings.Contains(err.Error(), "was changed by another program") || len(list) == 0 {
		t.Fatalf("%v, %v", list, err)
	}
	w.stop(false)
	w.same(before)
}

// A process that ends between the line in the journal and the change, or after the change, is undone too.
func TestStopAfterAKill(t *testing.T) {
	w := newWorld(t, shop)
	before := w.all()
	w.must(w.start(choice{}, agents...))
	j, err := readJournal()
	if err != nil {
		t.Fatal(err)
	}
	j.User = append(j.User, &step{Part: partHooks, Host: "claude-code", File: w.path("~/.claude/none.json"), Created: true, Is: "x"})
	if err := j.write(); err != nil {
		t.Fatal(err)
	}
	w.stop(false)
	w.same(before)
}

// Hooks stay while another project needs them.
func TestTwoProjects(t *testing.T) {
	w := newWorld(t, shop)
	before := w.all()
	w.must(w.start(choice{}, agents...))
	other := &world{t, w.home, filepath.Join(filepath.Dir(w.home), "other")}
	other.write("go.mod", "module other\n")
	other.must(other.start(choice{}, agents...))
	r, err := stop(w.root, false, false, false)
	if err != nil || !slices.Equal(r.Others, []string{other.root}) {
		t.Fatal(r, err)
	}
	if !strings.Contains(w.read("~/.claude/settings.json"), "hook claude-code") {
		t.Error("the hook is gone")
	}
	other.stop(false)
	if err := os.RemoveAll(other.root); err != nil {
		t.Fatal(err)
	}
	w.same(before)
}

// Parts can be left out.
func TestParts(t *testing.T) {
	w := newWorld(t, shop)
	for _, c := range []struct {
		without []part
		want    []part
	}{
		{[]part{partHooks, partServers}, []part{partPolicy}}, {[]part{partPolicy, partServers}, []part{partHooks}}, {[]part{partPolicy, partHooks}, []part{partServers}},
	} {
		out, err := w.planner(agents...).plan(choice{without: c.without})
		if err != nil {
			t.Fatal(err)
		}
		for _, ch := range out.changes {
			if !slices.Contains(c.want, ch.part) {
				t.Errorf("without %v: %s", c.without, ch.part)
			}
		}
	}
	if list := w.must(w.start(choice{without: []part{partTrust, partHooks, partServers}})); len(list) != 2 || list[0].Part != partPolicy || filepath.Base(list[1].File) != casesName {
		t.Errorf("%v", list)
	}
}

// Settings that cannot be read are left alone, and the screen says so.
func TestBrokenSettings(t *testing.T) {
	w := newWorld(t, map[string]string{".mcp.json": "{", "~/.claude/settings.json": "{\"a\":}", "go.mod": "module x\n"})
	if err := os.Symlink(w.path("~/.profile"), w.path("crush.json")); err != nil {
		t.Fatal(err)
	}
	p := w.planner("claude-code")
	out, err := p.plan(choice{})
	if err != nil || len(out.uncovered) != 3 {
		t.Fatalf("%v, %v", out.uncovered, err)
	}
	w.must(p.apply(out, choice{}))
	if w.read(".mcp.json") != "{" || w.read("~/.claude/settings.json") != "{\"a\":}" {
		t.Error("broken settings were changed")
	}
}

// The screen has the widths of terminals, and names everything that is written, for every width.
func TestScreen(t *testing.T) {
	w := newWorld(t, shop)
	p := w.planner(agents...)
	for _, run := range []bool{false, true} {
		out, err := p.plan(choice{run: run})
		if err != nil {
			t.Fatal(err)
		}
		list, err := out.judged(true, w.home)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			want := map[string]string{"ls -la": "unattended", "write api/new.txt": "unattended", "read .env": "deny", "rm -rf /": "deny", "write stopgate.toml": "ask", "go test ./...": either(run, "unattended", "ask")}[e.Text]
			if want != "" && e.Mode != want {
				t.Errorf("%s: %s, want %s", e.Text, e.Mode, want)
			}
		}
		for _, width := range []int{60, 61, 80, 120, 200} {
			var b bytes.Buffer
			screen{&b, width, w.home}.show(out, choice{run: run}, list)
			for line := range strings.Lines(b.String()) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
					t.Errorf("width %d: %d: %s", width, n, line)
				}
			}
			for _, ch := range out.changes {
				if name := filepath.Base(ch.file); !strings.Contains(b.String(), name) {
					t.Errorf("width %d: %s is not shown", width, name)
				}
			}
		}
	}
}

// The journal is read back as it was written, and one of another version is an error.
func TestJournalVersion(t *testing.T) {
	w := newWorld(t, shop)
	w.must(w.start(choice{}, agents...))
	path := w.path("~/.local/state/stopgate/start.json")
	text, err := os.ReadFile(path)
	if err != nil || !json.Valid(text) {
		t.Fatal(err)
	}
	for _, bad := range []string{"{", strings.Replace(string(text), `"version": 1`, `"version": 2`, 1)} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := stop(w.root, false, false, false); err == nil {
			t.Error("no error")
		}
	}
}
