package tools_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/tools"
	"github.com/stopgate/stopgate/internal/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree is a working tree with tools.
type tree struct {
	*tools.Set
	t   *testing.T
	dir string
}

func newTree(t *testing.T, files map[string]string, change ...func(o *tools.Options)) *tree {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	o := tools.Options{Dir: dir, Env: os.Environ()}
	for _, f := range change {
		f(&o)
	}
	set, err := tools.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return &tree{set, t, dir}
}

func (tr *tree) run(tool, args string) agent.Result {
	tr.t.Helper()
	return tr.Run(context.Background(), agent.Task{Tool: stopgate.ToolName(tool), Args: args})
}

func (tr *tree) file(name string) string {
	text, err := os.ReadFile(filepath.Join(tr.dir, name))
	if err != nil {
		return "(none)"
	}
	return string(text)
}

func TestFileTools(t *testing.T) {
	for _, test := range []struct {
		name, tool, args, want string
		failed                 bool
		files                  map[string]string // afterwards
	}{
		{"read", "fs_read_file", `{"path":"src/a"}`, "one\ntwo\nthree\n", false, nil},
		{"lines", "fs_read_file", `{"path":"src/a","start_line":2,"end_line":2}`, "two\n", false, nil},
		{"to the end", "fs_read_file", `{"path":"src/a","start_line":3}`, "three\n", false, nil},
		{"behind the end", "fs_read_file", `{"path":"src/a","start_line":9}`, "src/a has 4 lines", true, nil},
		{"binary", "fs_read_file", `{"path":"bin"}`, "binary file of 3 bytes", false, nil},
		{"absent", "fs_read_file", `{"path":"src/z"}`, "no such file", true, nil},
		{"a directory", "fs_read_file", `{"path":"src"}`, "is a directory", true, nil},
		{"no path", "fs_read_file", `{}`, "path is missing", true, nil},
		{"a number", "fs_read_file", `{"path":1}`, "path is not a string", true, nil},
		{"half a line", "fs_read_file", `{"path":"src/a","start_line":1.5}`, "start_line is not an integer", true, nil},
		{"above", "fs_read_file", `{"path":"../a"}`, "outside of the working tree", true, nil},
		{"above in the middle", "fs_read_file", `{"path":"src/../../a"}`, "outside of the working tree", true, nil},
		{"absolute", "fs_read_file", `{"path":"/etc/passwd"}`, "outside of the working tree", true, nil},
		{"list", "fs_list_files", `{}`, "bin\nsrc/\nsrc/a\nsrc/deep/\nsrc/deep/b\n", false, nil},
		{"list one level", "fs_list_files", `{"path":".","depth":1}`, "bin\nsrc/\n", false, nil},
		{"list below", "fs_list_files", `{"path":"src/deep"}`, "src/deep/b\n", false, nil},
		{"list nothing", "fs_list_files", `{"path":"nowhere"}`, "no such file", true, nil},
		{"grep", "fs_grep", `{"pattern":"^t"}`, "src/a:2: two\nsrc/a:3: three\n", false, nil},
		{"grep below", "fs_grep", `{"pattern":"T","path":"src/deep","ignore_case":true}`, "nothing matches", false, nil},
		{"grep a bad pattern", "fs_grep", `{"pattern":"("}`, "pattern: ", true, nil},
		{"create", "fs_create_file", `{"path":"new/x","content":"y"}`, "wrote 1 bytes", false, map[string]string{"new/x": "y"}},
		{"create what is there", "fs_create_file", `{"path":"src/a","content":"y"}`, "src/a exists", true, map[string]string{"src/a": "one\ntwo\nthree\n"}},
		{"replace", "fs_create_file", `{"path":"src/a","replace":true,"content":"y"}`, "wrote 1 bytes", false, map[string]string{"src/a": "y"}},
		{"modify", "fs_modify_file", `{"path":"src/a","patterns":[{"old":"two","new":"2"},{"old":"2\nthree","new":"3"}]}`, "changed src/a", false, map[string]string{"src/a": "one\n3\n"}},
		{"modify others", "fs_modify_file", `{"path":"src/a","patterns":[{"paths":["src/deep/b","src/a"],"old":"e\n","new":"E\n"}]}`, "occurs 2 times in src/a", true, map[string]string{"src/deep/b": "bee\n"}},
		{"modify all or nothing", "fs_modify_file", `{"path":"src/a","patterns":[{"old":"one","new":"1"},{"old":"zero","new":"0"}]}`, "occurs 0 times", true, map[string]string{"src/a": "one\ntwo\nthree\n"}},
		{"modify two files", "fs_modify_file", `{"path":"src/a","patterns":[{"old":"one","new":"1"},{"paths":["src/deep/b"],"old":"bee","new":"B"}]}`, "changed src/a, src/deep/b", false, map[string]string{"src/a": "1\ntwo\nthree\n", "src/deep/b": "B\n"}},
		{"modify nothing", "fs_modify_file", `{"path":"src/a","patterns":[]}`, "no list of replacements", true, nil},
		{"move", "fs_move_file", `{"source":"src/a","destination":"c/d"}`, "moved src/a to c/d", false, map[string]string{"src/a": "(none)", "c/d": "one\ntwo\nthree\n"}},
		{"move over", "fs_move_file", `{"source":"src/a","destination":"src/deep/b"}`, "exists: nothing was moved", true, map[string]string{"src/deep/b": "bee\n"}},
		{"move out", "fs_move_file", `{"source":"src/a","destination":"../d"}`, "outside", true, map[string]string{"src/a": "one\ntwo\nthree\n"}},
		{"delete", "fs_delete_file", `{"path":"src/deep/b"}`, "deleted", false, map[string]string{"src/deep/b": "(none)"}},
		{"delete a full directory", "fs_delete_file", `{"path":"src"}`, "not empty", true, map[string]string{"src/deep/b": "bee\n"}},
		{"delete everything", "fs_delete_file", `{"path":"."}`, "the working tree itself", true, nil},
		{"no tool", "fs_format_disk", `{}`, "no tool", true, nil},
		{"no object", "fs_read_file", `[]`, "read the arguments", true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := newTree(t, map[string]string{"src/a": "one\ntwo\nthree\n", "src/deep/b": "bee\n", "bin": "a\x00b"})
			r := tr.run(test.tool, test.args)
			if r.Failed != test.failed || !strings.Contains(r.Text, test.want) {
				t.Errorf("%+v", r)
			}
			for name, want := range test.files {
				if got := tr.file(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if r.Absent && !strings.Contains(r.Text, "no such file") {
				t.Error("absent")
			}
		})
	}
}

// Proves C12: no file is reached through a symbolic link, inside or outside the tree.
func TestSymbolicLinks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "x"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	tr := newTree(t, map[string]string{".env": "KEY=secret", "src/a": "a"})
	for name, target := range map[string]string{"notes": ".env", "out": outside, "src/up": ".."} {
		if err := os.Symlink(target, filepath.Join(tr.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ tool, args string }{
		{"fs_read_file", `{"path":"notes"}`}, {"fs_read_file", `{"path":"out/x"}`}, {"fs_read_file", `{"path":"src/up/.env"}`},
		{"fs_create_file", `{"path":"out/y","content":""}`}, {"fs_create_file", `{"path":"notes","replace":true,"content":""}`},
		{"fs_modify_file", `{"path":"src/a","patterns":[{"paths":["notes"],"old":"KEY","new":"K"}]}`},
		{"fs_move_file", `{"source":"notes","destination":"b"}`}, {"fs_move_file", `{"source":"src/a","destination":"out/a"}`},
		{"fs_delete_file", `{"path":"out/x"}`}, {"fs_list_files", `{"path":"out"}`}, {"fs_grep", `{"path":"out","pattern":"."}`},
	} {
		r := tr.run(test.tool, test.args)
		if !r.Failed || !strings.Contains(r.Text, "symbolic link") {
			t.Errorf("%s %s: %+v", test.tool, test.args, r)
		}
	}
	if r := tr.run("fs_grep", `{"pattern":"secret"}`); strings.Contains(r.Text, "out/") || strings.Contains(r.Text, "notes") {
		t.Errorf("%+v", r)
	}
	if tr.file(".env") != "KEY=secret" || tr.file("src/a") != "a" {
		t.Error("something was changed")
	}
}

// A search shows only files that the policy allows to be read by name.
func TestSearchesAskThePolicy(t *testing.T) {
	tr := newTree(t, map[string]string{".env": "KEY=1", "a": "KEY=2"}, func(o *tools.Options) {
		o.Readable = func(name string) bool { return name != ".env" }
	})
	r := tr.run("fs_grep", `{"pattern":"KEY"}`)
	if strings.Contains(r.Text, "KEY=1") || !strings.Contains(r.Text, "a:1: KEY=2") || !strings.Contains(r.Text, "1 files were not searched") {
		t.Errorf("%+v", r)
	}
}

func TestPreviews(t *testing.T) {
	tr := newTree(t, map[string]string{"a": "one\ntwo\n"})
	for _, test := range []struct{ tool, args, want string }{
		{"fs_modify_file", `{"path":"a","patterns":[{"old":"two","new":"2"}]}`, "--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
		{"fs_modify_file", `{"path":"a","patterns":[{"old":"x","new":"2"}]}`, ""},
		{"fs_create_file", `{"path":"a","replace":true,"content":"one\n"}`, "--- a\n+++ a\n@@ -1,2 +1,1 @@\n one\n-two\n"},
		{"fs_create_file", `{"path":"b","content":"one\n"}`, ""},
		{"fs_delete_file", `{"path":"a"}`, "--- a\n+++ a\n@@ -1,2 +0,0 @@\n-one\n-two\n"},
		{"run_command", `{"command":"rm a"}`, ""},
	} {
		if got := tr.Preview(stopgate.ToolName(test.tool), test.args); got != test.want {
			t.Errorf("%s %s:\n%s", test.tool, test.args, got)
		}
	}
	if tr.file("a") != "one\ntwo\n" {
		t.Error("a preview changed something")
	}
}

func TestCommands(t *testing.T) {
	tr := newTree(t, map[string]string{"a": "x"}, func(o *tools.Options) { o.Env = append(o.Env, "GREETING=hi") })
	for _, test := range []struct {
		name, command, want string
		failed              bool
	}{
		{"output", "echo $GREETING; echo err >&2; ls", "hi\nerr\na\n[exit status 0]", false},
		{"silence", "true", "[exit status 0]", false},
		{"exit code", "echo x; exit 3", "x\n[exit status 3]", true},
		{"not there", "no-such-program-here", "not found\n[exit status 127]", true},
		{"no input", "cat; echo end", "end\n[exit status 0]", false},
		{"a signal", "kill -9 $$", "[signal: killed]", true},
		{"bad bytes", `printf 'a\377b'`, "a\uFFFDb\n[exit status 0]", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := tr.run("run_command", fmt.Sprintf(`{"command":%q}`, test.command))
			if r.Failed != test.failed || !strings.HasSuffix(r.Text, test.want) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// alive reports whether the process whose id is in a file still runs.
func (tr *tree) alive(file string) bool {
	var pid int
	if _, err := fmt.Sscan(tr.file(file), &pid); err != nil {
		return false
	}
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ") // an orphan may stay a zombie here
}

func (tr *tree) dies(file string) {
	tr.t.Helper()
	for range 500 {
		if !tr.alive(file) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	tr.t.Errorf("the process in %s is still there", file)
}

// A hanging tool ends at its deadline or when the person interrupts it, with all its descendants.
func TestHangingCommands(t *testing.T) {
	tr := newTree(t, nil, func(o *tools.Options) { o.Timeout = 300 * time.Millisecond })
	r := tr.run("run_command", `{"command":"echo begun; sleep 1000 & echo $! > child; echo $$ > parent; wait"}`)
	if !r.Failed || !strings.Contains(r.Text, "begun\n[ended after 300ms, as its time was over]") {
		t.Errorf("%+v", r)
	}
	tr.dies("child")
	tr.dies("parent")

	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(200*time.Millisecond, func() { cancel(agent.Interrupted()) })
	r = tr.Run(ctx, agent.Task{Tool: "run_command", Args: `{"command":"trap '' TERM INT HUP; echo $$ > stubborn; while :; do sleep 0.1; done","timeout_seconds":60}`})
	if !r.Failed || !strings.Contains(r.Text, "the person interrupted it") {
		t.Errorf("%+v", r)
	}
	tr.dies("stubborn")

	// A background process does not block the agent, and ends, too.
	tr = newTree(t, nil)
	began := time.Now()
	r = tr.run("run_command", `{"command":"sleep 1000 & echo $! > child; echo done"}`)
	if r.Failed || !strings.Contains(r.Text, "done\n[exit status 0; what it left running in the background was ended]") || time.Since(began) > 30*time.Second {
		t.Errorf("%+v", r)
	}
	tr.dies("child")
}

// An output of ten megabytes is truncated, and states that.
func TestLargeOutput(t *testing.T) {
	tr := newTree(t, map[string]string{"big": strings.Repeat("0123456789abcde\n", 50_000)})
	r := tr.run("run_command", `{"command":"echo first; yes 0123456789 | head -c 10000000; echo; echo last"}`)
	if r.Failed || len(r.Text) > 66<<10 || !strings.HasPrefix(r.Text, "first\n") || !strings.HasSuffix(r.Text, "last\n[exit status 0]") ||
		!strings.Contains(r.Text, "bytes left out ...]") {
		t.Errorf("%d bytes, %.80q", len(r.Text), r.Text)
	}
	if r = tr.run("fs_read_file", `{"path":"big"}`); r.Failed || len(r.Text) > 66<<10 || !strings.Contains(r.Text, "bytes left out") {
		t.Errorf("%d bytes", len(r.Text))
	}
}

// Proves K0f, S3: a local tool gets its arguments as JSON on standard input, without a shell.
func TestLocalTools(t *testing.T) {
	local := func(o *tools.Options) {
		o.Local = []tools.Local{
			{Definition: stopgate.ToolDefinition{Name: "count"}, Command: []string{"wc", "-c"}},
			{Definition: stopgate.ToolDefinition{Name: "same"}, Command: []string{"cat"}},
			{Definition: stopgate.ToolDefinition{Name: "gone"}, Command: []string{"./not-there"}},
		}
	}
	tr := newTree(t, nil, local)
	args := `{"text":"$(touch x); 'y'","n":1e3}`
	if r := tr.run("same", args); r.Failed || r.Text != args+"\n[exit status 0]" || tr.file("x") != "(none)" {
		t.Errorf("%+v", r)
	}
	if r := tr.run("gone", `{}`); !r.Failed || !strings.Contains(r.Text, "start ./not-there") {
		t.Errorf("%+v", r)
	}
	if _, err := tools.New(tools.Options{Dir: t.TempDir(), Local: []tools.Local{{Definition: stopgate.ToolDefinition{Name: "run_command"}}}}); err == nil {
		t.Error("two tools of one name")
	}
}

// Proves D26-29, C1: every tool describes its parameters, marks paths and commands, and has long
// ones last.
func TestDefinitions(t *testing.T) {
	targets := 0
	for _, d := range newTree(t, nil).Definitions(t.Context()) {
		s, notes, err := schema.ParseJSON(d.Schema)
		if err != nil || len(notes) > 0 || d.Description == "" {
			t.Errorf("%s: %v %v", d.Name, err, notes)
			continue
		}
		for i, p := range s.Root.Properties {
			if p.Node.Annotation != schema.None {
				targets++
				if i > 1 {
					t.Errorf("%s: %s comes late", d.Name, p.Name)
				}
			}
		}
	}
	if targets != 9 {
		t.Errorf("%d targets", targets)
	}
}
