package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/tools"
)

// limited runs a call whose access is limited to names of the tree.
func (tr *tree) limited(read, write []string, tool, args string) agent.Result {
	tr.t.Helper()
	at := func(list []string) []string {
		if list == nil {
			return nil
		}
		paths := []string{}
		for _, name := range list {
			paths = append(paths, filepath.ToSlash(filepath.Join(tr.dir, name)))
		}
		return paths
	}
	return tr.Run(tr.t.Context(), agent.Task{Tool: stopgate.ToolName(tool), Args: args, Access: &stopgate.Access{Read: at(read), Write: at(write)}})
}

// Proves D25-49: file tools touch only what the access of the call permits, however the path is
// written.
func TestAccess(t *testing.T) {
	files := map[string]string{"src/a": "alpha", "src/deep/b": "beta", "srcs/c": "gamma", "docs/d": "delta", "top": "omega"}
	all, src, none := []string{"."}, []string{"src"}, []string{}
	for _, test := range []struct {
		read, write []string
		tool, args  string
		want        string // of the result; "access: " begins a refusal
	}{
		{src, nil, "fs_read_file", `{"path":"src/a"}`, "alpha"},
		{src, nil, "fs_read_file", `{"path":"./src/../src/a"}`, "alpha"},
		{src, nil, "fs_read_file", `{"path":"DIR/src/a"}`, "alpha"},
		{src, nil, "fs_read_file", `{"path":"srcs/c"}`, "access: fs_read_file may read only src; srcs/c is not there"},
		{src, nil, "fs_read_file", `{"path":"src/../top"}`, "access: "},
		{src, nil, "fs_read_file", `{"path":"DIR/top"}`, "access: "},
		{src, nil, "fs_read_file", `{"path":"src/missing"}`, "no such file"},
		{src, nil, "fs_read_file", `{"path":"missing"}`, "access: "},
		{[]string{"docs/d"}, nil, "fs_read_file", `{"path":"docs/d"}`, "delta"},
		{[]string{"docs/d"}, nil, "fs_read_file", `{"path":"docs/dd"}`, "access: "},
		{none, nil, "fs_read_file", `{"path":"src/a"}`, "access: fs_read_file may read no files"},
		{nil, none, "fs_read_file", `{"path":"src/a"}`, "alpha"},
		{[]string{".."}, nil, "fs_read_file", `{"path":"top"}`, "omega"},
		{[]string{"../elsewhere"}, nil, "fs_read_file", `{"path":"top"}`, "access: "},

		{nil, src, "fs_create_file", `{"path":"src/new/file","content":"x"}`, "wrote 1 bytes"},
		{none, src, "fs_create_file", `{"path":"src/a","replace":true,"content":"x"}`, "wrote 1 bytes"},
		{nil, src, "fs_create_file", `{"path":"new","content":"x"}`, "access: fs_create_file may write only src"},
		{nil, src, "fs_create_file", `{"path":"src/../new","content":"x"}`, "access: "},
		{nil, []string{"far/off"}, "fs_create_file", `{"path":"far/off/x","content":"x"}`, "wrote"},
		{nil, []string{"far/off"}, "fs_create_file", `{"path":"far/x","content":"x"}`, "access: "},

		{src, src, "fs_modify_file", `{"path":"src/a","patterns":[{"old":"alpha","new":"x"}]}`, "changed src/a"},
		{nil, src, "fs_modify_file", `{"path":"top","patterns":[{"old":"omega","new":"x"}]}`, "access: fs_modify_file may write"},
		{none, src, "fs_modify_file", `{"path":"src/a","patterns":[{"old":"alpha","new":"x"}]}`, "access: fs_modify_file may read"},
		{nil, src, "fs_modify_file", `{"path":"src/a","patterns":[{"old":"alpha","new":"x"},{"paths":["top"],"old":"omega","new":"x"}]}`, "access: "},

		{nil, src, "fs_move_file", `{"source":"src/a","destination":"src/new/a"}`, "moved"},
		{nil, src, "fs_move_file", `{"source":"src/a","destination":"a"}`, "access: fs_move_file may write"},
		{nil, src, "fs_move_file", `{"source":"top","destination":"src/top"}`, "access: fs_move_file may write"},
		{src, nil, "fs_move_file", `{"source":"docs/d","destination":"src/d"}`, "access: fs_move_file may read"},
		{nil, []string{"src", "docs"}, "fs_move_file", `{"source":"docs/d","destination":"src/d"}`, "access: fs_move_file moves files only within one directory"},
		{nil, []string{"src/a", "src/z"}, "fs_move_file", `{"source":"src/a","destination":"src/z"}`, "moved"},
		{all, all, "fs_move_file", `{"source":"docs/d","destination":"src/d"}`, "moved"},

		{nil, src, "fs_delete_file", `{"path":"src/a"}`, "deleted"},
		{none, src, "fs_delete_file", `{"path":"top"}`, "access: fs_delete_file may write"},

		{src, nil, "fs_list_files", `{}`, "src/\nsrc/a\nsrc/deep/\nsrc/deep/b\n"},
		{[]string{"src/deep"}, nil, "fs_list_files", `{}`, "src/\nsrc/deep/\nsrc/deep/b\n"},
		{src, nil, "fs_list_files", `{"path":"docs"}`, "access: "},
		{src, nil, "fs_grep", `{"pattern":"."}`, "src/a:1: alpha\nsrc/deep/b:1: beta\n"},
		{[]string{"src/deep"}, nil, "fs_grep", `{"path":"src","pattern":"."}`, "src/deep/b:1: beta\n"},
		{src, nil, "fs_grep", `{"path":"docs","pattern":"."}`, "access: "},

		{nil, src, "run_command", `{"command":"true > src/a"}`, "access: the policy limits the files that run_command may touch"},
		{nil, src, "own", `{}`, "access: the policy limits the files that own may touch"},
	} {
		tr := newTree(t, files, func(o *tools.Options) {
			o.Local = []tools.Local{{Definition: stopgate.ToolDefinition{Name: "own"}, Command: []string{"true"}}}
		})
		r := tr.limited(test.read, test.write, test.tool, strings.ReplaceAll(test.args, "DIR", tr.dir))
		refused := strings.HasPrefix(test.want, "access: ")
		if !strings.Contains(r.Text, test.want) || strings.HasPrefix(r.Text, "error: access: ") != refused || refused && !r.Failed {
			t.Errorf("%v %v %s %s: %+v", test.read, test.write, test.tool, test.args, r)
		}
		if strings.HasPrefix(test.tool, "fs_list") || test.tool == "fs_grep" {
			for _, other := range []string{"srcs", "docs", "top"} {
				if !refused && strings.Contains(r.Text, other) {
					t.Errorf("%s %s shows %s: %s", test.tool, test.args, other, r.Text)
				}
			}
		}
		if refused {
			for name, text := range files {
				if tr.file(name) != text {
					t.Errorf("%s %s changed %s", test.tool, test.args, name)
				}
			}
			for _, name := range []string{"new", "a", "far/x", "src/top", "src/d"} {
				if tr.file(name) != "(none)" {
					t.Errorf("%s %s made %s", test.tool, test.args, name)
				}
			}
		}
	}
}

// Proves D25-49: the access of a tree that is reached through a link holds under both names.
func TestAccessOfALinkedTree(t *testing.T) {
	tr := newTree(t, map[string]string{"src/a": "alpha", "top": "omega"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(tr.dir, link); err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(tools.Options{Dir: link})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for _, dir := range []string{link, tr.dir} {
		for path, failed := range map[string]bool{"src/a": false, "top": true} {
			r := set.Run(t.Context(), agent.Task{Tool: "fs_read_file", Args: fmt.Sprintf(`{"path":%q}`, path), Access: &stopgate.Access{Read: []string{dir + "/src"}}})
			if r.Failed != failed {
				t.Errorf("%s below %s: %+v", path, dir, r)
			}
		}
	}
}

// Proves D25-49: a link that leads out of what is permitted is not followed, not even one that
// takes the place of a directory or file while a call runs.
func TestAccessAndLinks(t *testing.T) {
	tr := newTree(t, map[string]string{"src/dir/a": "alpha", "src/secret/a": "secret", "src/a": "alpha"})
	for name, target := range map[string]string{"src/out": "secret", "src/file": "secret/a"} {
		if err := os.Symlink(target, filepath.Join(tr.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	most := []string{"src/dir", "src/a", "src/out", "src/file"}
	for _, path := range []string{"src/out/a", "src/file"} {
		if r := tr.limited(most, most, "fs_read_file", `{"path":"`+path+`"}`); !r.Failed {
			t.Errorf("%s: %+v", path, r)
		}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { // exchanges a directory and a link, and a file and a link
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, pair := range [][2]string{{"src/dir", "src/out"}, {"src/a", "src/file"}} {
				aside := filepath.Join(tr.dir, "src/aside")
				os.Rename(filepath.Join(tr.dir, pair[0]), aside)
				os.Rename(filepath.Join(tr.dir, pair[1]), filepath.Join(tr.dir, pair[0]))
				os.Rename(aside, filepath.Join(tr.dir, pair[1]))
			}
		}
	}()
	defer func() {
		close(stop)
		<-ended
		entries, err := os.ReadDir(filepath.Join(tr.dir, "src/secret"))
		if err != nil || len(entries) != 1 {
			t.Errorf("files were made through a link: %v %v", entries, err)
		}
		if text := tr.file("src/secret/a"); text != "secret" {
			t.Errorf("a file was changed through a link: %q", text)
		}
	}()
	read, began := 0, time.Now()
	// A busy machine may need longer until a call finds a file between two exchanges.
	more := func() bool {
		took := time.Since(began)
		return took < 700*time.Millisecond || read == 0 && took < time.Minute
	}
	for n := 0; more(); n++ {
		for _, call := range [][2]string{
			{"fs_read_file", `{"path":"src/dir/a"}`}, {"fs_read_file", `{"path":"src/a"}`}, {"fs_grep", `{"path":"src","pattern":"."}`},
			{"fs_create_file", fmt.Sprintf(`{"path":"src/dir/new%d","content":"x"}`, n)},
			{"fs_move_file", fmt.Sprintf(`{"source":"src/dir/new%d","destination":"src/dir/moved/%d"}`, n, n)},
		} {
			r := tr.limited(most, most, call[0], call[1])
			if strings.Contains(r.Text, "secret\n") || r.Text == "secret" || strings.Contains(r.Text, ": secret") {
				t.Fatalf("%s %s: %+v", call[0], call[1], r)
			}
			if r.Text == "alpha" {
				read++
			}
		}
	}
	if read == 0 {
		t.Error("no file was ever read")
	}
}

// A limit has one JSON form: an absent list does not limit, an empty one permits no file.
func TestAccessAsJSON(t *testing.T) {
	text, err := json.Marshal(stopgate.Access{Write: []string{}})
	if err != nil || string(text) != `{"write":[]}` {
		t.Errorf("%s %v", text, err)
	}
}
