package stopgate_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/stopgate/stopgate"

// layers is the architecture: a package may import only packages listed above
// it, never one beside or below. An unlisted package fails. Packages that stand
// in one row do not know each other.
var layers = [][]string{
	{"."},
	{"flow"},
	{"jsonstream"},
	{"internal/regexp/ucd"},
	{"internal/regexp/automaton"},
	{"internal/regexp/alternating"},
	{"internal/regexp/regular"},
	{"internal/schema"},
	{"internal/visible"},
	{"internal/system/stack"},
	{"internal/system/owner", "internal/system/atomicfile", "internal/system/peer", "internal/system/httpserver"},
	{"internal/record/spool"},
	{"internal/bundle"},
	{"internal/bundle/channel"},
	{"internal/system/crowd"},
	{"internal/host/jsonc", "internal/project"},
	{"internal/lang/diag"},
	{"internal/lang/manual"},
	{"internal/lang/tomltree"},
	{"internal/host/servers"},
	{"internal/condition"},
	{"internal/condition/shell/programs"},
	{"internal/condition/shell"},
	{"internal/condition/shell/effect"},
	{"internal/condition/patch"},
	{"internal/condition/literal"},
	{"internal/condition/glob"},
	{"internal/condition/usage"},
	{"internal/condition/number"},
	{"internal/condition/spelling"},
	{"internal/condition/plaintext"},
	{"internal/condition/pathform"},
	{"internal/condition/pathname"},
	{"internal/condition/weburl"},
	{"internal/flow/occur"},
	{"internal/flow/index", "internal/flow/kept"},
	{"internal/condition/cidr"},
	{"internal/condition/commandline"},
	{"internal/condition/origin"},
	{"internal/condition/protected"},
	{"internal/condition/match"},
	{"internal/condition/kinds"},
	{"internal/condition/pathkey"},
	{"session"},
	{"internal/store/compact"},
	{"internal/store/encoding"},
	{"session/policies"},
	{"internal/gate/port"},
	{"internal/gate/rows", "internal/gate/recent", "internal/gate/turn", "internal/gate/texts"},
	{"internal/gate/auditlog"},
	{"gate"},
	{"internal/lang/syntax"},
	{"internal/packs"},
	{"internal/lang/parser"},
	{"internal/flow/source"},
	{"internal/condition/index"},
	{"internal/eval"},
	{"internal/policy/bind"},
	{"internal/policy/check"},
	{"internal/policy"},
	{"internal/trial"},
	{"internal/prove/inclusion"},
	{"internal/prove/analysis"},
	{"internal/prove/symbolic"},
	{"internal/prove"},
	{"internal/prove/diff"},
	{"internal/knowntools"},
	{"internal/config/generate"},
	{"internal/provider/sse"},
	{"internal/provider"},
	{"internal/provider/script", "internal/provider/transcript"},
	{"internal/provider/gemini/wire", "internal/provider/openairesponses/wire"},
	{"internal/provider/openairesponses/history"},
	{"internal/provider/openaichat", "internal/provider/openairesponses", "internal/provider/anthropic", "internal/provider/gemini", "internal/mcp/jsonrpc"},
	{"internal/provider/openaichat/content", "internal/provider/openairesponses/content", "internal/provider/anthropic/content", "internal/provider/gemini/content"},
	{"internal/provider/registry"},
	{"approve"},
	{"internal/agent/conversation"},
	{"internal/approve/frame"},
	{"internal/approve/who"},
	{"internal/approve/command", "internal/approve/page", "approve/terminal", "internal/approve/webhook"},
	{"internal/store/fleet"},
	{"internal/store/location", "internal/store/upgrade"},
	{"internal/store/database", "internal/store/postgres/pgdb"},
	{"internal/record/auditrow"},
	{"audit"},
	{"internal/record/kepttext"},
	{"internal/record/jsonl", "internal/record/sqlite", "internal/record/postgres", "internal/record/live"},
	{"internal/record/redis"},
	{"internal/store/mem", "internal/store/sqlite", "internal/store/backend"},
	{"internal/playground"},
	{"internal/store/postgres", "proofs"},
	{"internal/store/kinds"},
	{"internal/store/servers"},
	{"store"},
	{"internal/record/records"},
	{"internal/replay"},
	{"internal/system/secret"},
	{"internal/identity"},
	{"internal/system/certificate"},
	{"judge"},
	{"gateway/events"},
	{"internal/gateway/chain", "internal/external"},
	{"internal/gateway/responselog"},
	{"internal/gateway/texts"},
	{"internal/gateway/history", "internal/gateway/body", "internal/gateway/header"},
	{"internal/gateway/upstream"},
	{"internal/gateway/calls"},
	{"gateway"},
	{"internal/gateway/configure"},
	{"internal/mcp/link", "internal/mcp/pin", "internal/mcp/mirror", "internal/mcp/protocol", "internal/mcp/stream"},
	{"internal/mcp/definition", "internal/mcp/downstream", "internal/mcp/merge", "internal/mcp/round", "internal/mcp/serve", "internal/mcp/upstream"},
	{"mcpgate"},
	{"decide"},
	{"decide/client"},
	{"internal/system/plainfile"},
	{"internal/hook/once", "internal/hook/ask", "internal/hook/search"},
	{"internal/hook"},
	{"internal/host/imports/draft"},
	{"internal/host/imports/claude", "internal/host/imports/codex", "internal/host/imports/gemini", "internal/host/imports/jp", "internal/host/imports/opencode"},
	{"internal/host/install", "internal/host/imports"},
	{"internal/config"},
	{"internal/cli/textdiff", "internal/cli/ci", "internal/cli/suite", "internal/system/socket", "internal/system/tty", "internal/system/leash", "internal/cli/amend", "internal/system/realpath"},
	{"internal/learn"},
	{"policy"},
	{"internal/release", "internal/config/place", "internal/host/trust"},
	{"internal/config/bundles"},
	{"internal/relay"},
	{"internal/relay/local"},
	{"internal/hook/process"},
	{"internal/hook/resident"},
	{"internal/agent/arguments", "internal/agent/provider"},
	{"internal/agent"},
	{"internal/agent/tools", "internal/agent/tui"},
	{"internal/agent/servers"},
	{"internal/record/otel", "internal/record/metrics"},
	{"internal/cli"},
	{"internal/cli/inputs"},
	{"internal/cli/tables"},
	{"internal/cli/dryrun", "internal/cli/service"},
	{"internal/cli/inspect"},
	{"internal/cli/author", "internal/cli/evaluate", "internal/cli/operate", "internal/cli/hosts", "internal/cli/learning", "internal/cli/agent", "internal/cli/demo"},
	{"internal/cli/fleet", "internal/cli/begin"},
	{"internal/cli/commands"},
	{"internal/cli/commands/manpages"},
	{"cmd/stopgate-hook/early"},
	{"cmd/stopgate", "cmd/stopgate-hook", "playground", "playground/wasm"},
}

// testOnly are packages that only tests import; they may import anything.
var testOnly = "internal/testkit/"

// pure packages hold the meaning: no I/O, no clock, no goroutine, no logging.
var pure = []string{
	"jsonstream", "internal/regexp/ucd", "internal/regexp/automaton", "internal/regexp/alternating", "internal/regexp/regular", "internal/schema", "internal/condition", "internal/condition/shell/programs", "internal/condition/shell", "internal/condition/shell/effect", "internal/condition/patch",
	"internal/condition/literal", "internal/condition/glob", "internal/condition/number", "internal/condition/spelling", "internal/condition/plaintext", "internal/condition/pathform", "internal/condition/pathname", "internal/condition/weburl", "internal/flow/occur", "internal/flow/index", "internal/flow/kept", "internal/flow/source", "internal/condition/cidr", "internal/condition/commandline", "internal/condition/origin", "internal/condition/protected", "internal/condition/usage", "internal/condition/match", "internal/condition/kinds", "internal/condition/pathkey", "internal/lang/syntax", "internal/lang/parser", "internal/condition/index", "internal/eval",
	"internal/policy/bind", "internal/policy/check", "internal/policy", "internal/prove/inclusion", "internal/prove/analysis", "internal/prove/symbolic", "internal/prove", "internal/prove/diff", "session", "session/policies", "internal/mcp/jsonrpc", "internal/bundle", "internal/project", "internal/host/servers", "internal/learn",
}

// impure are the imports that a pure package must not have.
var impure = map[string]bool{
	"os": true, "net": true, "net/http": true, "time": true, "log": true, "log/slog": true,
	"io/ioutil": true, "os/exec": true, "syscall": true, "context": true, "math/rand": true, "math/rand/v2": true,
}

// durations are pure packages whose API speaks of durations and contexts, as Go
// programs do. That they read no clock is looked up in their text.
var durations = map[string]bool{"internal/bundle": true, "internal/policy": true, "internal/prove/diff": true, "session": true, "session/policies": true, "internal/learn": true}

var clock = regexp.MustCompile(`\btime\.(Now|Since|Until|After|AfterFunc|Sleep|Tick|NewT\w+)\b|\bcontext\.(WithTimeout|WithDeadline)`)

type goFile struct {
	path    string // relative to the repository root
	pkg     string // relative directory
	test    bool
	imports []string
}

func sources(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "interop" || name == "deploy" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		file := goFile{path: p, pkg: path.Clean(filepath.ToSlash(filepath.Dir(p))), test: strings.HasSuffix(name, "_test.go")}
		for _, im := range f.Imports {
			name, err := strconv.Unquote(im.Path.Value)
			if err != nil {
				return err
			}
			file.imports = append(file.imports, name)
		}
		files = append(files, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestLayers(t *testing.T) {
	rank := map[string]int{}
	for i, row := range layers {
		for _, pkg := range row {
			rank[pkg] = i
		}
	}
	seen := map[string]bool{}
	for _, f := range sources(t) {
		seen[f.pkg] = true
		if strings.HasPrefix(f.pkg, testOnly) {
			continue
		}
		if strings.HasPrefix(f.pkg, "examples/") {
			for _, im := range f.imports {
				if !f.test && strings.Contains(im, "/internal/") {
					t.Errorf("%s imports %s: examples use what other modules can use", f.path, im)
				}
			}
			continue
		}
		mine, listed := rank[f.pkg]
		if !listed {
			t.Errorf("%s: package %s is not in the layer table", f.path, f.pkg)
			continue
		}
		if f.test {
			continue
		}
		for _, im := range f.imports {
			rel, ours := relative(im)
			if !ours || rel == f.pkg {
				continue
			}
			switch theirs, ok := rank[rel]; {
			case strings.HasPrefix(rel, testOnly):
				t.Errorf("%s imports %s, which is for tests only", f.path, rel)
			case !ok || theirs >= mine:
				t.Errorf("%s imports %s, which is not above %s in the layer table", f.path, rel, f.pkg)
			}
		}
	}
	for pkg := range rank {
		if !seen[pkg] {
			t.Errorf("the layer table lists %s, which does not exist", pkg)
		}
	}
}

// ARCHITECTURE.md names every package, or a directory above it, in its table of wings, and
// names no directory that does not exist.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			if _, err := os.Stat(name[1]); err != nil {
				t.Errorf("ARCHITECTURE.md names `%s`: %v", name[1], err)
			}
			named = append(named, name[1])
		}
	}
	for _, pkg := range slices.Concat(layers[1:]...) {
		if !slices.ContainsFunc(named, func(dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }) {
			t.Errorf("ARCHITECTURE.md has no wing for `%s`", pkg)
		}
	}
}

func TestPurePackagesTouchNothingOutside(t *testing.T) {
	isPure := map[string]bool{}
	for _, p := range pure {
		isPure[p] = true
	}
	for _, f := range sources(t) {
		if f.test || !isPure[f.pkg] {
			continue
		}
		for _, im := range f.imports {
			if durations[f.pkg] && (im == "time" || im == "context") {
				continue
			}
			if impure[im] {
				t.Errorf("%s imports %s; package %s is pure", f.path, im, f.pkg)
			}
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		if use := clock.Find(text); use != nil {
			t.Errorf("%s uses %s; package %s is pure", f.path, use, f.pkg)
		}
	}
}

// ownJSON are the packages that may use encoding/json: they write, and read back what
// stopgate itself wrote - rows, stores, its own API, its own reports, bundles - or play a model
// that speaks to a test.
var ownJSON = []string{
	".",
	"internal/approve/page", "internal/approve/webhook", "audit", "internal/bundle", "internal/bundle/channel", "internal/record/auditrow", "internal/record/postgres", "internal/record/redis", "internal/record/spool", "internal/record/sqlite", "decide", "decide/client", "gate",
	"internal/cli", "internal/cli/author", "internal/cli/begin", "internal/cli/ci", "internal/cli/demo", "internal/cli/evaluate", "internal/cli/hosts", "internal/cli/inspect", "internal/cli/operate",
	"internal/gateway/responselog", "internal/lang/diag", "internal/record/live", "internal/record/records", "internal/relay/local", "internal/replay", "internal/mcp/pin", "internal/store/encoding", "internal/store/kinds", "internal/store/postgres", "internal/store/sqlite",
	"playground", "playground/wasm",
}

// Wire data is judged on raw bytes: encoding/json folds case, keeps the last
// duplicate and repairs text, so it must not read what a model or client wrote.
func TestEncodingJSONReadsNoWireData(t *testing.T) {
	uses := map[string]bool{}
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.pkg, testOnly) || !slices.Contains(f.imports, "encoding/json") {
			continue
		}
		uses[f.pkg] = true
		if !slices.Contains(ownJSON, f.pkg) {
			t.Errorf("%s imports encoding/json: read wire data with jsonstream", f.path)
		}
	}
	for _, pkg := range ownJSON {
		if !uses[pkg] {
			t.Errorf("%s may import encoding/json, and does not", pkg)
		}
	}
}

// A kind of store is named where its row is, so that another one is a package and a row.
func TestStoresAreNamedOnce(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.pkg, testOnly) || f.pkg == "internal/store/kinds" || f.pkg == "internal/store/servers" {
			continue
		}
		if f.pkg == "internal/playground" { // in a browser there is one kind: the table links SQLite
			continue
		}
		for _, concrete := range []string{"internal/store/sqlite", "internal/store/postgres", "internal/store/mem"} {
			if slices.Contains(f.imports, module+"/"+concrete) {
				t.Errorf("%s imports %s: use the port of internal/store/backend", f.path, concrete)
			}
		}
	}
}

// The evaluator and the parser know the kinds of conditions through the port of internal/condition,
// so that another kind is a package and a row of internal/condition/kinds.
func TestConditionsAreNamedOnce(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || !slices.Contains([]string{"internal/eval", "internal/condition/match", "internal/condition/index", "internal/lang/syntax", "internal/lang/parser", "internal/policy/bind"}, f.pkg) {
			continue
		}
		for _, kind := range []string{"kinds", "cidr", "commandline", "number", "patch", "protected", "shell", "shell/effect", "shell/programs", "usage", "weburl"} {
			if slices.Contains(f.imports, module+"/internal/condition/"+kind) {
				t.Errorf("%s imports internal/condition/%s: use the port of internal/condition", f.path, kind)
			}
		}
	}
}

// Properties draw the same cases in every run, unless someone asks for others.
func TestPropertiesHaveASeed(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasPrefix(f.pkg, testOnly) || !slices.Contains(f.imports, "pgregory.net/rapid") {
			continue
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"rapid." + "Check(", "rapid." + "MakeCheck("} {
			if strings.Contains(string(text), call) {
				t.Errorf("%s calls %s: use internal/testkit/property, so that CI is no lottery", f.path, call)
			}
		}
	}
}

func TestEveryPackageHasADocComment(t *testing.T) {
	documented := map[string]bool{}
	pkgs := map[string]bool{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		pkgs[f.pkg] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), f.path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Doc != nil && len(parsed.Doc.Text()) > 20 {
			documented[f.pkg] = true
		}
	}
	var missing []string
	for pkg := range pkgs {
		if !documented[pkg] {
			missing = append(missing, pkg)
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("packages without a doc comment: %s", strings.Join(missing, ", "))
	}
}

// What a build writes is not committed: every file is small, and none is a program.
func TestNoProgramIsCommitted(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a checkout of git: ", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 4)
		n, _ := f.Read(head)
		f.Close()
		if info.Size() > 1<<20 {
			t.Errorf("%s has %d bytes: what is committed has at most 1 MiB", name, info.Size())
		}
		for _, magic := range []string{"MZ", "\x7fELF", "\xcf\xfa\xed\xfe", "\x00asm"} {
			if strings.HasPrefix(string(head[:n]), magic) {
				t.Errorf("%s is a program: builds go to bin/ or dist/", name)
			}
		}
	}
}

// Every direct dependency has its line in docs/dependencies.md.
func TestDependenciesAreExplained(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mod), "\n") {
		name, version, ok := strings.Cut(strings.TrimSpace(line), " v")
		if ok && strings.HasPrefix(line, "\t") && !strings.Contains(version, "// indirect") && !strings.Contains(string(page), name) {
			t.Errorf("docs/dependencies.md does not explain %s", name)
		}
	}
}

// Templates call methods by name, so that the linker keeps every exported method of a
// program that uses them: 10 MB of cmd/stopgate.
func TestNoTemplates(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.pkg, testOnly) {
			continue
		}
		for _, im := range f.imports {
			if im == "html/template" || im == "text/template" {
				t.Errorf("%s imports %s", f.path, im)
			}
		}
	}
}

// Programs compile no pattern before they know what they are to do: every call of a coding agent
// starts one.
func TestPatternsAreCompiledOnDemand(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.pkg, testOnly) || !slices.Contains(f.imports, "regexp") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if vars, ok := d.(*ast.GenDecl); ok && compiles(vars) {
				t.Errorf("%s compiles a pattern at start: use sync.OnceValue", f.path)
			}
		}
	}
}

// compiles reports whether a declaration calls a function of regexp that compiles, outside of functions.
func compiles(d ast.Node) (found bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			pkg, named := s.X.(*ast.Ident)
			found = found || named && pkg.Name == "regexp" && strings.HasPrefix(s.Sel.Name, "MustCompile")
		}
		_, function := n.(*ast.FuncLit)
		return !function
	})
	return found
}

func relative(im string) (string, bool) {
	if im == module {
		return ".", true
	}
	return strings.CutPrefix(im, module+"/")
}

// The program that agents start for each call stays small: none of what it links is
// needed by few policies or starts by itself.
func TestHookProgramStaysSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/stopgate-hook").Output()
	if err != nil {
		t.Fatal(err)
	}
	heavy := []string{
		"net/http", "crypto/tls", "html/template", "text/template", "log/slog", "go/", "testing",
		"github.com/spf13/cobra", "github.com/prometheus/", "go.opentelemetry.io/", "google.golang.org/", "github.com/redis/",
		"github.com/jackc/", "github.com/modelcontextprotocol/", "charm.land/", "go.starlark.net/",
		module + "/internal/agent/tui", module + "/internal/agent/tools", module + "/gateway", module + "/mcpgate", module + "/internal/mcp", module + "/decide", module + "/judge",
		module + "/approve/terminal", module + "/internal/approve/command", module + "/internal/approve/frame", module + "/internal/approve/page", module + "/internal/approve/webhook", module + "/internal/replay", module + "/internal/record/metrics",
	}
	for _, pkg := range strings.Fields(string(out)) {
		for _, name := range heavy {
			if pkg == name || strings.HasPrefix(pkg, strings.TrimSuffix(name, "/")+"/") {
				t.Errorf("cmd/stopgate-hook links %s", pkg)
			}
		}
	}
}

// No command links packages whose initialization costs every start, also of `stopgate version`,
// more than what they are needed for is worth: docs/dependencies.md has what is used instead.
func TestProgramLinksNothingSlowToStart(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/stopgate").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		for _, name := range []string{"google.golang.org/grpc", "github.com/grpc-ecosystem", "golang.org/x/net/trace", "html/template"} {
			if pkg == name || strings.HasPrefix(pkg, name+"/") {
				t.Errorf("cmd/stopgate links %s", pkg)
			}
		}
	}
}

// What decides calls links no proof: they are for people who write policies. cmd/stopgate-hook leaves
// a policy file that was not proved before to cmd/stopgate, which refuses rules that nothing reaches.
func TestDecidingLinksNoProofs(t *testing.T) {
	for _, pkg := range []string{"./gate", "./internal/policy", "./session/policies", "./cmd/stopgate-hook"} {
		out, err := exec.Command("go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, dep := range strings.Fields(string(out)) {
			if dep == module+"/internal/prove" || strings.HasPrefix(dep, module+"/internal/prove/") {
				t.Errorf("%s links %s", pkg, dep)
			}
		}
	}
}
