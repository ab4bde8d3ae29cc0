package project

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// code are the endings of files that people write as code.
var code = []string{
	".go", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".css", ".scss", ".html", ".py", ".pyi", ".rs", ".java", ".kt", ".kts", ".scala",
	".php", ".rb", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".ex", ".exs", ".proto", ".sql",
}

// usual are the directories in which the pack "coding" lets agents write.
var usual = []string{"src", "lib", "internal", "pkg", "cmd", "app", "test", "tests", "docs"}

// obeyed are directories whose files tools run or obey: agents ask before they write there.
var obeyed = []string{"scripts", "script", "ci", "hooks", "tools", "tooling", "deploy", "deployment", "infra", "terraform", "ansible", "charts", "helm", "k8s", "kubernetes", "migrations", "buildSrc", "gradle", "config", "etc", "bin", "sbin"}

// tests are names of directories with tests.
var tests = []string{"test", "tests", "spec", "specs", "e2e", "__tests__", "integration"}

// generators are files that programs write, by the ending of a file that shows them.
var generators = []struct{ like, glob string }{
	{"*.pb.go", "**/*.pb.go"}, {"*.pb.gw.go", "**/*.pb.gw.go"}, {"zz_generated.*.go", "**/zz_generated.*.go"}, {"*_pb2.py", "**/*_pb2.py"}, {"*_pb2_grpc.py", "**/*_pb2_grpc.py"},
	{"*.generated.ts", "**/*.generated.ts"}, {"*.g.dart", "**/*.g.dart"},
}

// outputs are directories that the tools of a language write in its packages.
var outputs = map[string][]string{
	"rust": {"target"}, "maven": {"target"}, "gradle": {"build", ".gradle"}, "node": {"coverage", ".next", ".nuxt", ".svelte-kit", ".turbo"},
	"python": {"__pycache__", ".venv", "venv", "htmlcov", ".tox", ".nox"},
}

// directories finds where sources, tests and generated files are.
func (p *Project) directories(t *tree) {
	for _, dir := range t.order[1:] {
		base := path.Base(dir)
		if slices.Contains(tests, base) {
			p.Tests = append(p.Tests, dir)
		}
		if t.sources(dir) && !below(dir, p.Sources) && !below(dir, p.Tests) {
			p.Sources = append(p.Sources, dir)
		}
	}
	p.work(t)
	p.generated(t)
	if slices.ContainsFunc(t.dirs["."], func(e fs.DirEntry) bool { return e.Name() == ".git" }) {
		p.Tools = append(p.Tools, Found{"git", ".git"})
	}
	if t.hasDir(".", ".github") {
		p.Tools = append(p.Tools, Found{"github-cli", ".github"})
		if entries, err := t.entries(".github/workflows"); err == nil {
			for _, e := range entries {
				if ext := path.Ext(e.Name()); plain(e.Name()) && e.Type().IsRegular() && (ext == ".yml" || ext == ".yaml") {
					p.Pipelines = append(p.Pipelines, ".github/workflows/"+e.Name())
				}
			}
		}
	}
	for _, file := range t.dirs["."] {
		if slices.Contains(lintFiles, file.Name()) {
			p.Tools = with(p.Tools, Found{"linters", file.Name()})
		}
	}
}

// lintFiles configure the linters of the pack.
var lintFiles = []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".yamllint", ".yamllint.yml", ".hadolint.yaml", ".shellcheckrc", ".editorconfig", ".pre-commit-config.yaml", "biome.json", ".markdownlint.json", ".markdownlint.yaml", "ruff.toml"}

// sources reports whether a directory itself has files of code.
func (t *tree) sources(dir string) bool {
	return slices.ContainsFunc(t.files(dir, "*.*"), func(name string) bool { return slices.Contains(code, path.Ext(name)) })
}

// below reports whether a path is one of the directories or in one of them.
func below(dir string, list []string) bool {
	return slices.ContainsFunc(list, func(outer string) bool { return dir == outer || strings.HasPrefix(dir, outer+"/") })
}

// work finds the globs of files that agents may write. Directories in the root that the pack has are left to it. Next to
// a manifest only known sources are written, because tools obey or run much that is there; so in the root.
func (p *Project) work(t *tree) {
	p.writable(t, ".")
	slices.Sort(p.Work)
	var left int
	if p.Work, left = collapse(slices.Compact(p.Work)); left > 0 {
		t.note("agents ask in %d more directories of sources", left)
	}
}

// writable adds the globs of a directory.
func (p *Project) writable(t *tree, dir string) {
	if dir == "." || slices.ContainsFunc(p.Packages, func(pkg string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }) {
		if names := t.plainSources(dir); names != "" {
			p.Work = append(p.Work, join(dir, names))
		}
		for _, e := range t.dirs[dir] {
			sub := join(dir, e.Name())
			if e.IsDir() && slices.Contains(t.order, sub) && !slices.Contains(obeyed, strings.ToLower(e.Name())) && !slices.Contains(usual, sub) {
				p.writable(t, sub)
			}
		}
		return
	}
	if p.hasCode(t, dir) {
		p.Work = append(p.Work, dir+"/**")
	}
}

// hasCode reports whether a directory, or one below it, has files of code.
func (p *Project) hasCode(t *tree, dir string) bool {
	return slices.ContainsFunc(t.order, func(d string) bool { return (d == dir || strings.HasPrefix(d, dir+"/")) && t.sources(d) })
}

// special are names of files without their ending that tools run or obey.
var special = []string{"setup", "conftest", "noxfile", "tasks", "fabfile", "dodo", "manage", "build", "magefile", "mage", "gulpfile", "gruntfile", "index.config", "sitecustomize", "usercustomize"}

// plainSources returns a glob of the sources that are in a directory with a manifest, by their names, "" for none. New
// Go files are part of it: the go command runs none because of its name.
func (t *tree) plainSources(dir string) string {
	var stems []string
	ext := ""
	for _, like := range []string{"*.go", "*.py", "*.rs", "*.rb", "*.php"} {
		for _, name := range t.files(dir, like) {
			stem := strings.TrimSuffix(name, like[1:])
			if !slices.Contains(special, strings.ToLower(stem)) && !strings.Contains(stem, ".") {
				stems, ext = append(stems, stem), like[1:]
			}
		}
		if len(stems) > 0 {
			break
		}
	}
	switch {
	case len(stems) == 0:
		return ""
	case ext == ".go":
		return "*.go"
	case len(stems) == 1:
		return stems[0] + ext
	case len(stems) > 12:
		return ""
	}
	return "{" + strings.Join(stems, ",") + "}" + ext
}

// maxSiblings are the siblings that one glob names.
const maxSiblings = 24

// collapse writes siblings with the same rest as one glob: a/x/src/** and a/y/src/** as a/{x,y}/src/**. It returns the
// number of those that are too many for one.
func collapse(globs []string) (list []string, left int) {
	type key struct{ before, after string }
	var order []key
	siblings := map[key][]string{}
	for _, g := range globs {
		parts := strings.SplitN(g, "/", 3)
		k, name := key{"", g}, ""
		if len(parts) == 3 && parts[1] != "**" && !strings.ContainsAny(parts[1], "{*") {
			k, name = key{parts[0], parts[2]}, parts[1]
		}
		if _, ok := siblings[k]; !ok {
			order = append(order, k)
		}
		siblings[k] = append(siblings[k], name)
	}
	for _, k := range order {
		switch names := siblings[k]; {
		case k.before == "":
			list = append(list, k.after)
		case len(names) == 1:
			list = append(list, k.before+"/"+names[0]+"/"+k.after)
		default:
			left += max(0, len(names)-maxSiblings)
			names = names[:min(len(names), maxSiblings)]
			list = append(list, k.before+"/{"+strings.Join(names, ",")+"}/"+k.after)
		}
	}
	return list, left
}

// generated finds the globs of files that programs write.
func (p *Project) generated(t *tree) {
	for _, g := range generators {
		if slices.ContainsFunc(t.order, func(dir string) bool { return t.has(dir, g.like) }) {
			p.Generated = append(p.Generated, g.glob)
		}
	}
	for _, dir := range p.Packages {
		for _, m := range markers {
			if m.kind != language || !t.has(dir, m.file) {
				continue
			}
			for _, name := range outputs[m.name] {
				if t.hasDir(dir, name) {
					p.Generated = append(p.Generated, join(dir, name)+"/**")
				}
			}
		}
		if t.has(dir, "go.mod") && t.hasDir(dir, "vendor") || t.has(dir, "composer.json") && t.hasDir(dir, "vendor") {
			p.Generated = append(p.Generated, join(dir, "vendor")+"/**")
		}
	}
	slices.Sort(p.Generated)
	p.Generated = slices.Compact(p.Generated)
}
