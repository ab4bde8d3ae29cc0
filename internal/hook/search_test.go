package hook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/hook"
)

const searching = `
version = 1
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
[[guard]]
on = "path"
glob_in = "secrets"
mode = "deny"
reason = "secrets stay out of reach"
[lists]
secrets = ["conf/secret/**", "**/.env*", "**/id_{rsa,dsa}*", "**/*.key", "**/.ssh/**"]
`

// Proves C3, C15, K0c: a guard evaluates the combined parameters of a search, in every host with
// known search tools, and permits searches without guarded targets.
func TestSearches(t *testing.T) {
	p := program(t, searching)
	glob := func(folder, pattern, in, g string) string {
		return `{"` + folder + `":"` + in + `","` + pattern + `":"` + g + `"}`
	}
	for _, tool := range []struct {
		host, name, folder, pattern string
		filter                      bool // matches names of files at any depth
	}{
		{"claude-code", "Glob", "path", "pattern", false},
		{"claude-code", "Grep", "path", "glob", true},
		{"gemini-cli", "glob", "path", "pattern", false},
		{"gemini-cli", "glob", "dir_path", "pattern", false},
		{"gemini-cli", "search_file_content", "dir_path", "include", true},
		{"gemini-cli", "grep_search", "dir_path", "include_pattern", true},
		{"qwen-code", "grep_search", "path", "glob", true},
		{"copilot-cli", "glob", "path", "pattern", false},
		{"copilot-cli", "grep", "path", "glob", true},
		{"cursor", "Glob", "target_directory", "glob_pattern", false},
		{"cursor", "Grep", "path", "glob", true},
		{"crush", "glob", "path", "pattern", false},
		{"crush", "grep", "path", "include", true},
		{"opencode", "glob", "path", "pattern", false},
		{"opencode", "grep", "path", "include", true},
		{"pi", "find", "path", "pattern", false},
		{"pi", "grep", "path", "glob", true},
		{"cline", "search_files", "path", "file_pattern", true},
		{"generic", "glob", "path", "pattern", false},
	} {
		h := host(t, tool.host)
		hit := [][2]string{
			{"conf", "secret/*"}, {"conf/", "./secret/*"}, {"conf", "s*/a"}, {"conf", "**/secret/a.go"}, {"conf", "{x,secret}/*"}, {"src/../conf", "secret"},
			{"/srv/proj/conf", "secret/**"}, {".", "conf/secret/*"}, {"src", "**/.env"}, {"src", ".env*"}, {"src", ".e*"}, {"src", "[.]env"}, {"src", "{.env,a.go}"}, {"src", "*/.e*"},
			{"src", "**/id_rsa"}, {"src", "id_r*"}, {"src", "a/*.key"}, {"src", "*.{go,key}"}, {"/home/u", ".ssh/*"}, {"~", ".ssh/config"}, {"src", `\\u002eenv`},
		}
		miss := [][2]string{
			{"conf", "*.go"}, {"conf", "**/*.go"}, {"src", "secret/*"}, {"conf", "*"}, {"conf", "**/test_*.py"}, {".", "**/*"}, {"src", "**/a*.{ts,tsx}"}, {"src", "!*.key"}, {"src", "a?c/[xy]*.md"},
		}
		if !tool.filter {
			hit = append(hit, [2]string{"src", "../conf/secret/*"}, [2]string{"src", "/srv/proj/conf/secret/*"})
			miss = miss[:len(miss)-2]
		} else {
			hit = append(hit, [2]string{"src", "*.go .env"}, [2]string{"src", "*.go,*.key"}, [2]string{"src", "conf/secret/*"})
		}
		for want, list := range map[string][][2]string{blocks: hit, runs: miss} {
			for _, c := range list {
				args := glob(tool.folder, tool.pattern, c[0], strings.ReplaceAll(c[1], `\\u`, `\u`))
				r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event(tool.host, tool.name, args))
				if got := hostDoes(tool.host, r); got != want {
					t.Errorf("%s %s %s: the host %s, want %s: %s%s", tool.host, tool.name, args, got, want, r.Stdout, r.Stderr)
				}
			}
		}
		// Without a directory the search begins in the session's directory.
		for pattern, want := range map[string]string{"conf/secret/*": blocks, ".env": blocks, "secret/*": runs} {
			r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event(tool.host, tool.name, `{"`+tool.pattern+`":"`+pattern+`"}`))
			if got := hostDoes(tool.host, r); got != want {
				t.Errorf("%s %s for %s: the host %s, want %s", tool.host, tool.name, pattern, got, want)
			}
		}
	}
}

// Proves K0c: the directory of a search is evaluated in each parameter that takes one or several.
func TestFolders(t *testing.T) {
	p := program(t, searching)
	h := host(t, "copilot-cli")
	for args, want := range map[string]string{
		`{"pattern":"x","paths":"conf/secret"}`:                    blocks,
		`{"pattern":"x","paths":["src","conf/secret"]}`:            blocks,
		`{"pattern":"x","paths":["src","docs"]}`:                   runs,
		`{"pattern":"x","paths":"src"}`:                            runs,
		`{"pattern":"x","glob":"secret/*","paths":["src","conf"]}`: blocks,
		`{"pattern":"x","glob":"secret/*","paths":["src","docs"]}`: runs,
		// Too many targets are rejected, not evaluated in part.
		`{"pattern":"x","glob":"secret/*","paths":[` + numbered(80) + `"conf"]}`:  blocks,
		`{"pattern":"x","glob":"secret/*","paths":[` + numbered(80) + `"docs"]}`:  runs,
		`{"pattern":"x","glob":"secret/*","paths":[` + numbered(400) + `"docs"]}`: blocks,
		`{"pattern":"x","glob":"secret/*","paths":[` + numbered(400) + `"conf"]}`: blocks,
	} {
		r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event("copilot-cli", "grep", args))
		if got := hostDoes("copilot-cli", r); got != want {
			t.Errorf("%s: the host %s, want %s: %s", args, got, want, r.Stdout)
		}
	}
}

// numbered returns the beginning of a list of n directories.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"d%d",`, i)
	}
	return b.String()
}

// Proves S32, S40: members that were added to a search are never sent to the host, a path that has
// to be cleaned first is sent as it runs, and a call that has such a member itself is denied.
func TestSearchesAreGivenBack(t *testing.T) {
	const text = `
version = 1
[tools.Glob]
policy.run = [ { arg = "/path", prefix = "src/", mode = "unattended" }, { mode = "deny" } ]
`
	p := program(t, text)
	h := host(t, "claude-code")
	for args, want := range map[string]string{
		`{"pattern":"*.go","path":"src/a"}`:                                      ``,
		`{"pattern":"a/*.go","path":"src/../src/a"}`:                             `"updatedInput":{"pattern":"a/*.go","path":"src/a"}}`,
		`{"pattern":"*.go","path":"src","search_paths":[]}`:                      `"permissionDecision":"deny"`,
		`{"pattern":"*.go","path":"src","search_globs":1}`:                       `"permissionDecision":"deny"`,
		`{"pattern":"{` + strings.Repeat("a,", 300) + `}/{b,c}","path":"src/a"}`: `"permissionDecision":"deny"`,
	} {
		r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event("claude-code", "Glob", args))
		if want == "" && len(r.Stdout) > 0 || !strings.Contains(string(r.Stdout), want) {
			t.Errorf("%s: %s, want %s", args, r.Stdout, want)
		}
	}
}

// Proves K0c, D25-18: a rule can restrict a search to directories.
func TestRulesOnSearches(t *testing.T) {
	p := program(t, `
version = 1
[tools.glob]
policy.run = [ { arg = "/search_paths/*", prefix = "src/", mode = "unattended" }, { mode = "deny" } ]
`)
	h := host(t, "gemini-cli")
	for args, want := range map[string]string{
		`{"pattern":"a/*.go","path":"src"}`:      runs,
		`{"pattern":"src/a.go"}`:                 runs,
		`{"pattern":"a.go","dir_path":"conf"}`:   blocks,
		`{"pattern":"../a.go","path":"src"}`:     blocks,
		`{"pattern":"/etc/*","path":"src"}`:      blocks,
		`{"pattern":"{a,../b}.go","path":"src"}`: blocks,
		`{"path":"src"}`:                         blocks,
	} {
		r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event("gemini-cli", "glob", args))
		if got := hostDoes("gemini-cli", r); got != want {
			t.Errorf("%s: the host %s, want %s: %s", args, got, want, r.Stdout)
		}
	}
}

// Proves K0c: a file of an unknown tool is evaluated in the directory of another parameter.
func TestUnknownToolsWithFolders(t *testing.T) {
	p := program(t, searching)
	h := host(t, "claude-code")
	for args, want := range map[string]string{
		`{"directory":"conf","filename":"secret/a"}`: blocks,
		`{"directory":"conf/secret","file":"a"}`:     blocks,
		`{"dir":"conf","name":"secret/a"}`:           runs,
		`{"directory":"src","filename":"secret/a"}`:  runs,
		`{"filename":"secret/a"}`:                    runs,
	} {
		r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event("claude-code", "mcp__files__read", args))
		if got := hostDoes("claude-code", r); got != want {
			t.Errorf("%s: the host %s, want %s: %s", args, got, want, r.Stdout)
		}
	}
}
