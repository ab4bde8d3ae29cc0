package policies_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathkey"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// Proves TPS-21, TPS-22: without a word every usual reader opens every usual writer, under
// each usual name of the path.
func TestReadBeforeWriteByDefault(t *testing.T) {
	for _, read := range []string{"read_file", "fs_read_file", "vfs_read_file"} {
		for _, write := range []string{"write_file", "fs_modify_file", "fs_create_file", "edit_file", "vfs_write_file", "vfs_edit_file"} {
			for _, key := range []string{"path", "file_path", "filepath"} {
				b, args := newBook(t, policies.ReadBeforeWrite()), `{"`+key+`":"a"}`
				b.expect(write, args, stopgate.CodeReadRequired)
				b.run(read, `{"path":"a"}`, session.Succeeded)
				b.expect(write, args, ok)
				b.expect(write, `{"`+key+`":"b"}`, stopgate.CodeReadRequired)
			}
		}
	}
}

// Proves H12: where the gate follows links a key is the file behind them: a link that was
// turned after the read is another file, two names of one file are one, and a path that
// is not the same file to everybody is none.
func TestThreatH12Links(t *testing.T) {
	links := map[string]string{"/srv/p/link": "/srv/p/src/a", "/srv/p/dir": "/srv/p/src/deep", "/srv/p/dir/b": "/srv/p/src/deep/b", "/srv/p/dir/..": "/srv/p/src", "/srv/p/dir/../a": "/srv/p/src/a"}
	unknown := false
	real := func(name string) (string, bool) {
		name = strings.ReplaceAll(name, "/./", "/")
		if to, ok := links[name]; ok {
			name = to
		}
		return name, !unknown
	}
	b := newBook(t, policies.ReadBeforeWrite().ReadPaths(pathkey.Reader{Env: condition.Env{Root: "/srv/p", Links: &condition.Links{Real: real}}}))
	b.run("read_file", `{"path":"link"}`, session.Succeeded)
	for _, same := range []string{"link", "./link", "/srv/p/link", "src/a", "/srv/p/src/a"} {
		b.expect("write_file", `{"path":"`+same+`"}`, ok)
	}
	b.run("read_file", `{"path":"dir/b"}`, session.Succeeded)
	b.expect("write_file", `{"path":"src/deep/b"}`, ok)
	b.expect("write_file", `{"path":"dir/../a"}`, stopgate.CodeKeyUnavailable) // src/a, or a
	links["/srv/p/link"] = "/srv/p/.env"
	b.expect("write_file", `{"path":"link"}`, stopgate.CodeReadRequired)
	b.expect("write_file", `{"path":"src/a"}`, ok)
	unknown = true
	b.expect("write_file", `{"path":"src/a"}`, stopgate.CodeKeyUnavailable)
}

// Proves H12: a relative path is the file of the directory that the call begins in, for
// readers and writers that begin elsewhere too.
func TestThreatH12Directories(t *testing.T) {
	at := func(dir string) session.Policy {
		return policies.ReadBeforeWrite().ReadPaths(pathkey.Reader{Env: condition.Env{Root: "/srv/p", Dir: dir}})
	}
	b := newBook(t, at("/srv/p/conf"))
	b.run("read_file", `{"path":"a"}`, session.Succeeded)
	for _, c := range []struct {
		dir, path string
		code      stopgate.Code
	}{
		{"/srv/p/conf", "a", ok},
		{"/srv/p/conf", "../conf/a", ok},
		{"/srv/p", "conf/a", ok},
		{"", "conf/a", ok},
		{"/srv", "p/conf/a", ok},
		{"/etc", "/srv/p/conf/a", ok},
		{"/srv/p", "a", stopgate.CodeReadRequired},
		{"", "a", stopgate.CodeReadRequired},
		{"/srv/p/src", "a", stopgate.CodeReadRequired},
		{"/srv/p/conf", "conf/a", stopgate.CodeReadRequired},
	} {
		b.reg.Unregister("read_before_write")
		if err := b.reg.Register(at(c.dir)); err != nil {
			t.Fatal(err)
		}
		b.expect("write_file", `{"path":"`+c.path+`"}`, c.code)
	}
}

// What is quickly told to be canonical is what the readings of a path say.
func TestPlainPaths(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[a-cA._/-]{1,8}`).Draw(t, "path")
		args, err := jsonstream.Parse([]byte(`{"path":"`+path+`"}`), jsonstream.Options{})
		if err != nil {
			t.Fatal(err)
		}
		keys := policies.ReadBeforeWrite().Needs(session.Call{Tool: "write_file", Args: args})
		readings, complete := pathform.Readings(path, condition.Env{}, false)
		_, plain := pathform.Clean(path)
		want := complete && plain && !strings.HasPrefix(readings[0].Path, "..")
		if got := len(keys) > 0; got != want || got && keys[len(keys)-1].Value != readings[0].Path {
			t.Fatalf("%q: keys %v, readings %v", path, keys, readings)
		}
	})
}

// Proves Q15: with a content hash the write has to name what was read last.
func TestContentHash(t *testing.T) {
	b := newBook(t, policies.ReadBeforeWrite().Reads("read").Writes("write").ContentHash("/was"))
	b.run("read", `{"path":"a"}`, session.Succeeded)
	b.expect("write", `{"path":"a"}`, stopgate.CodeReadRequired)
	b.expect("write", `{"path":"a","was":"old"}`, stopgate.CodeReadRequired)
	b.expect("write", `{"path":"a","was":"HREAD"}`, ok)
	b.run("write", `{"path":"a","was":"hread"}`, session.Succeeded)
	b.expect("write", `{"path":"a","was":"hread"}`, stopgate.CodeReadRequired)
}

// Proves TPS-23: a call that moves or deletes names its path as the policy's own key
// does: what it does not name is still known.
func TestOwnKeyForgets(t *testing.T) {
	b := newBook(t, policies.ReadBeforeWrite().Reads("read").Writes("write").InvalidatedBy("drop").Key("/where"))
	b.run("read", `{"where":"a"}`, session.Succeeded)
	b.run("read", `{"where":"b"}`, session.Succeeded)
	b.release("drop", `{"where":"a"}`)
	b.expect("write", `{"where":"a"}`, stopgate.CodeReadRequired)
	b.expect("write", `{"where":"b"}`, ok)
}

// Proves H12: what deletes or moves the root takes the knowledge of every absolute path.
func TestThreatH12Root(t *testing.T) {
	b := newBook(t, policies.ReadBeforeWrite().Reads("read").Writes("write").InvalidatedBy("drop"))
	b.run("read", `{"path":"/etc/hosts"}`, session.Succeeded)
	b.run("read", `{"path":"/motd"}`, session.Succeeded)
	b.run("read", `{"path":"a"}`, session.Succeeded)
	b.release("drop", `{"path":"/"}`)
	b.expect("write", `{"path":"/etc/hosts"}`, stopgate.CodeReadRequired)
	b.expect("write", `{"path":"/motd"}`, stopgate.CodeReadRequired)
}
