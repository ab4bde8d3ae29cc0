package project_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/project"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// hostile are pieces of names and texts that mean something in TOML, globs, usages or on a terminal.
var hostile = []string{
	"test", "lint", "build", "src", "a", `"`, `'`, `\`, "\n", "\r", "\x1b[31m", "\x00", "]", "[tools.Bash.policy]", `", "**`, "**", "*", "{a,b}", "!", "#", "~", "..", "/", "-", " ", "<command>", "|", ":", "$(id)", "\u202e", "é", "=", ",", "rm -rf",
}

func word(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 1, 4).Draw(t, label), "")
}

// Whatever the names and texts of a project are, its policy has no finding, no unexpected table and no control
// character, and is within its bounds.
func TestHostileProjects(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		fsys := fstest.MapFS{}
		put := func(name, text string) {
			if name = strings.Trim(name, "/"); name != "" {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		for range rapid.IntRange(0, 5).Draw(t, "directories") {
			dir := word(t, "dir")
			put(dir+"/"+rapid.SampledFrom([]string{"package.json", "go.mod", "a.py", "Makefile", word(t, "file") + ".go"}).Draw(t, "name"), word(t, "text"))
		}
		put(word(t, "source")+".py", "")
		put("requirements.txt", "pytest")
		put("package.json", fmt.Sprintf(`{"packageManager":%q,"scripts":{%q:%q,%q:%q}}`, word(t, "manager"), word(t, "script"), word(t, "text"), "test:"+word(t, "part"), word(t, "text")))
		put("Makefile", word(t, "target")+": "+word(t, "needs")+"\n\t"+word(t, "recipe")+"\ntest"+word(t, "target")+":\n")
		put("justfile", word(t, "recipe")+":\n  "+word(t, "text")+"\n")
		put("Taskfile.yml", "tasks:\n  "+word(t, "task")+":\n")
		p, err := project.Read(fsys)
		if err != nil {
			return // a file system that cannot be listed
		}
		p.Unattended = true
		text := p.Policy()
		if bytes.ContainsFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) {
			t.Fatalf("%q", text)
		}
		if bytes.Count(text, []byte("\n[")) > 2 || bytes.Count(text, []byte("unattended")) > 2 {
			t.Fatalf("%s", text)
		}
		proofread(t, text)
	})
}
