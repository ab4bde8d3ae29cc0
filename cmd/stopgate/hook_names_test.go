package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// What xargs and wildcards give to programs that only read is free as long as the names on the
// disk say that nothing else happens: none is guarded, an option, or more than one word.
func TestHookKnowsTheNamesOnTheDisk(t *testing.T) {
	p := codingProject(t)
	put := func(name string) {
		t.Helper()
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when, decision string, commands ...string) {
		t.Helper()
		for _, command := range commands {
			if s := p.asks(t, "Bash", bash(command)); s.decision != decision && (decision != "ask" || s.decision != "deny") {
				t.Errorf("%s: %s: %+v, want %s", when, command, s, decision)
			}
		}
	}
	put(".git/config")
	free := []string{
		"find src -name '*.go' | xargs rg W", "git ls-files | xargs wc -l", "git ls-files '*.go' | xargs cat", "git ls-files | grep -v test | xargs grep -n W", "find src -type f | head -5 | xargs cat", "find src -name '*.go' | sort | xargs -n 1 wc -l",
		"cat src/*", "head -3 src/*", `for f in src/*; do head -3 "$f"; done`, "cd src && cat *", "cd src && grep -rn W .", "cd src && find . -name '*.go' | xargs grep W", "find src | xargs grep -rn W",
		"find src -name '*.go' | xargs sed -n 1,5p", "git ls-files '*.go' | xargs sed -n '/^func/p'", "find src -name '*.go' | xargs awk 'NR==1'", "grep -rn W src | sed 's/:.*//' | head", "git show HEAD --stat && grep -rn W src",
		"find src -name '*.go' | xargs awk '/x/ {print}'", "find src -name '*.go' | xargs grep -n '/api/v1'",
	}
	check("clean", "none", free...)
	check("never free", "ask",
		"find / | xargs rg W", "find ~ -name x | xargs cat", "find . -name '.env' | xargs cat", "find .. | xargs cat", "find src | xargs rm", "find src | xargs sh", "find src | xargs -I{} sh -c {}", "find src | xargs tee", "find src | xargs touch",
		"find src | xargs sed -i s/a/b/", "find src | xargs sed -n 1,5p -i", "find src | xargs sed -f x", "find src | xargs sed '1w x'", "find src | xargs sed -n '1e rm x'", "find src | xargs sed", "find src | xargs sed -ni p", "find src | xargs awk -f x", "find src | xargs awk '{print > $1}'", "find src | xargs awk", "find src | xargs sort -o x", "find src | xargs awk 'BEGIN{system(1)}'", "find src | xargs -a list cat", "find src | xargs -d / cat", "find src | sed s/x/y/ | xargs cat", "find src | grep -o e.* | xargs cat", "find src | cut -c2- | xargs cat",
		"find src -printf '--pre=x' | xargs rg W", "find src -exec echo {} + | xargs cat", "ls | xargs rg W", "echo .env | xargs cat", "cat list | xargs cat", "git ls-files -o | xargs cat", "git ls-files ../x | xargs cat", "git -C / ls-files | xargs cat",
		"git ls-files | xargs git log", "git ls-files | xargs rg --pre x W", "find -L src | xargs cat", "find src | xargs rg W; mv x y", "cat ../*", "cat ~/*", "cat /etc/*", `for f in src/*; do rm "$f"; done`, "cat *; rm x",
	)
	put("src/a b.go")
	check("a blank in a name", "ask", "find src -name '*.go' | xargs rg W", "git ls-files | xargs wc -l", "git ls-files '*.go' | xargs cat")
	check("a blank in a name", "none", "cat src/*", "find src -name '*.go' -print0 | xargs -0 wc -l", "git ls-files | xargs wc -l --")
	os.Remove(filepath.Join(p.dir, "src", "a b.go"))
	put("--pre=x")
	check("an option", "ask", "git ls-files | xargs wc -l", "git ls-files | xargs rg W")
	check("an option", "none", "find src -name '*.go' | xargs rg W")
	os.Remove(filepath.Join(p.dir, "--pre=x"))
	check("clean again", "none", free...)
	put("docs/x.pem")
	put("src/app/.env")
	check("guarded", "ask", "git ls-files | xargs cat", "find src | xargs cat", "find docs | xargs cat", "cat docs/*", `for f in docs/*; do cat "$f"; done`, "cd docs && cat *", "cat src/*/.e*", "find docs -name '*.pem' | xargs cat")
	check("guarded elsewhere", "none", "cat src/*", "find src -name '*.go' | xargs cat", "cat src/*/*", "git ls-files | xargs wc -l")
	put("src/dir.go/x")
	check("a directory", "ask", "find src -name '*.go' | xargs grep -rn W")
	if err := os.Symlink(p.home, filepath.Join(p.dir, "src", "away.go")); err != nil {
		t.Fatal(err)
	}
	check("a link", "ask", "find src -name '*.go' | xargs rg W", "git ls-files | xargs rg W")
}

// A shell may stay in the directory that a line goes to: one that has settings of its own, which
// git and others obey there, is asked about, and so is writing them.
func TestHookAsksBeforeDirectoriesWithSettings(t *testing.T) {
	p := codingProject(t)
	for _, name := range []string{"src/bare/HEAD", "src/crate/.cargo/config.toml", "src/sub/.git", "src/sub/deep/x", "src/plain/x"} {
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(p.dir, "src", "sub", "deep"), filepath.Join(p.dir, "src", "link")); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"cd src/plain && ls": "none", "cd src && ls": "none", "cd src && cd plain && ls": "none", "cd " + p.dir + "/src/plain && ls": "none",
		"cd src/bare && ls": "ask", "cd src/crate && ls": "ask", "cd src/sub/deep && ls": "ask", "cd src && cd bare && ls": "ask", "cd " + p.dir + "/src/bare && ls": "ask",
		// git finds the repository of the root there, unless the line may put another one there.
		"cd src && git status": "none", "cd src/plain && git status --short && git diff --stat": "none", "cd src && cd plain && git log --oneline | head -5": "none", "cd " + p.dir + "/src/plain && git status": "none",
		"cd src && git branch -a && ls": "none", "bash -c 'cd src && git status'": "none", "cd src && timeout 5 git status": "none",
		"cd src/bare && git status": "ask", "cd src/sub && git status": "ask", "cd src/sub/deep && git log": "ask", "cd src && cd sub && git status": "ask", "cd src/link && ls": "none", "cd src/link && git status": "ask", "cd src/none && git status": "ask",
		"mkdir -p src/none && cd src/none && git status": "ask", "cd src && git checkout x -- . && git status": "ask", "cd src && git -c core.fsmonitor=./x status": "ask", "cd src && git --git-dir=bare status": "ask",
		"cd src && git diff > a.txt && git status": "ask", "cd src && sort -o x a && git status": "ask", "cd src; cd bare; git status": "ask", "cd src && git commit -m x": "ask", "cd src && env git status": "ask", "cd src && make && git status": "ask",
		"mkdir -p src/new/.cargo": "ask", "echo x > src/HEAD": "ask", "echo x > src/HEADER": "none",
	} {
		if s := p.asks(t, "Bash", bash(command)); s.decision != want {
			t.Errorf("%s: %+v, want %s", command, s, want)
		}
	}
	for name, want := range map[string]string{"src/x/HEAD": "ask", "src/x/.cargo/config.toml": "ask", "src/x/a.go": "none"} {
		args, err := json.Marshal(map[string]string{"file_path": filepath.Join(p.dir, name), "content": "x"})
		if err != nil {
			t.Fatal(err)
		}
		if s := p.asks(t, "Write", args); s.decision != want {
			t.Errorf("write %s: %+v, want %s", name, s, want)
		}
	}
}
