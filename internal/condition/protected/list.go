package protected

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
)

// protectedGlob is a line of the list. Every path that it matches has one of names, in lower case,
// as a component, so that a path with none of them, as nearly all are, is skipped. A name that ends
// in * is a prefix; | separates names.
type protectedGlob struct{ glob, names string }

// deniedPaths are stopgate's own state, sockets and tokens: a process that can write there can approve his
// own calls (S4).
var deniedPaths = []protectedGlob{
	{"**/.local/state/stopgate/**", "stopgate"}, {"**/.local/share/stopgate/**", "stopgate"}, {"**/Library/Application Support/stopgate/**", "stopgate"},
	{"/var/lib/stopgate/**", "stopgate"}, {"/run/stopgate/**", "stopgate"}, {"/run/user/*/stopgate/**", "stopgate"}, {"/var/run/stopgate/**", "stopgate"},
	{"/tmp/stopgate-*/**", "stopgate-*"},
	{"**/stopgate.sock", "stopgate.sock"}, {"**/stopgate*.token", "stopgate*"}, {"**/.config/stopgate/{token,tokens,keys}*", "stopgate"},
}

// askedPaths are the files that control an agent, existing or not, and those whose content other
// programs run (K2, H20).
var askedPaths = []protectedGlob{
	{"**/stopgate.toml", "stopgate.toml"}, {"**/.stopgate/**", ".stopgate"}, {"**/.config/stopgate/**", "stopgate"}, {"/etc/stopgate/**", "stopgate"},
	{"**/.claude/settings*.json", ".claude"}, {"**/.claude/{hooks,agents,commands}/**", ".claude"},
	{"**/.claude/skills/**/SKILL.md", ".claude"}, {"**/.claude/plugins/**/hooks/**", ".claude"}, {"**/.claude.json", ".claude.json"}, {"**/.mcp.json", ".mcp.json"},
	{"/etc/claude-code/**", "claude-code"},
	{"**/.codex/{*.toml,hooks.json}", ".codex"}, {"**/.codex/{hooks,rules,agents,prompts,plugins}/**", ".codex"},
	{"**/.codex/skills/**/SKILL.md", ".codex"}, {"/etc/codex/**", "codex"},
	{"**/.agents/{hooks,agents,commands,plugins}/**", ".agents"}, {"**/.agents/skills/**/SKILL.md", ".agents"}, {"**/.config/agents/skills/**/SKILL.md", "agents"},
	{"**/.gemini/{settings.json,trustedFolders.json,.env}", ".gemini"}, {"**/.gemini/{hooks,policies,extensions,agents,commands}/**", ".gemini"},
	{"**/.gemini/skills/**/SKILL.md", ".gemini"}, {"/etc/gemini-cli/**", "gemini-cli"},
	{"**/.cursor/*.json", ".cursor"}, {"**/.cursor/{hooks,agents,commands,plugins,extensions}/**", ".cursor"}, {"**/.cursor/skills/**/SKILL.md", ".cursor"},
	{"**/.config/cursor/**", "cursor"}, {"/etc/cursor/**", "cursor"},
	{"**/.github/{hooks,copilot,agents,prompts,plugin}/**", ".github"}, {"**/.github/skills/**/SKILL.md", ".github"}, {"**/.github/mcp.json", ".github"},
	{"**/.copilot/**", ".copilot"}, {"**/.config/{.copilot,github-copilot}/**", ".copilot|github-copilot"},
	{"/etc/github-copilot/**", "github-copilot"},
	{"**/.vscode/{settings,mcp,tasks}.json", ".vscode"},
	{"**/opencode.{json,jsonc}", "opencode.json|opencode.jsonc"}, {"**/.opencode/**", ".opencode"}, {"**/.config/opencode/**", "opencode"},
	{"/etc/opencode/**", "opencode"},
	{"**/kilo.{json,jsonc}", "kilo.json|kilo.jsonc"}, {"**/{.kilo,.kilocode}/**", ".kilo|.kilocode"}, {"**/.config/kilo/**", "kilo"}, {"/etc/kilo/**", "kilo"},
	{"**/.qwen/{settings.json,trustedFolders.json,.env}", ".qwen"}, {"**/.qwen/{hooks,extensions,agents,commands}/**", ".qwen"},
	{"**/.qwen/skills/**/SKILL.md", ".qwen"}, {"/etc/qwen-code/**", "qwen-code"},
	{"**/{.crush,crush}.json", ".crush.json|crush.json"}, {"**/{.crushrc,crushrc}", ".crushrc|crushrc"}, {"**/.config/crush/**", "crush"},
	{"**/.local/share/crush/**", "crush"}, {"**/.crush/{commands,hooks}/**", ".crush"}, {"**/.crush/skills/**/SKILL.md", ".crush"},
	{"**/.clinerules/{hooks,workflows}/**", ".clinerules"}, {"**/.clinerules/skills/**/SKILL.md", ".clinerules"}, {"**/Cline/{Hooks,Plugins,Workflows}/**", "cline"},
	{"**/.cline/{hooks,plugins,agents,cron,workflows}/**", ".cline"}, {"**/.cline/data/{settings,workflows}/**", ".cline"},
	{"**/.cline/skills/**/SKILL.md", ".cline"}, {"**/cline_mcp_settings.json", "cline_mcp_settings.json"},
	{"**/{.windsurf,windsurf}/hooks.json", ".windsurf|windsurf"}, {"**/.pi/**", ".pi"}, {"**/.factory/settings*.json", ".factory"},
	{"**/.augment/settings*.json", ".augment"},
	{"**/.amp/settings*.json", ".amp"}, {"**/.config/amp/settings*.json", "amp"}, {"**/.kiro/{hooks,settings,agents}/**", ".kiro"},
	{"**/.kimi/config.toml", ".kimi"}, {"**/.config/goose/**", "goose"},
	{"**/.git/hooks/**", ".git"}, {"**/.git/{config,config.worktree}", ".git"}, {"**/.git/modules/**/hooks/**", ".git"}, {"**/.git/modules/**/config", ".git"},
	{"**/.gitconfig", ".gitconfig"}, {"**/.config/git/**", ".config"}, {"/etc/gitconfig", "gitconfig"},
}

// List is the built-in list of paths and commands that no rule permits (H20, K2, S4). It is
// restrictive: every reading of a path counts, including expansions.
//
// Its automata are built line by line on demand: a process for one call builds only those of lines
// with a matching name.
type List struct {
	context pathform.Context
	shell   pathform.Context // for words of command lines
	literal pathform.Context // for words that a shell takes literally
	lines   []*protectedLine
	names   func() *nameIndex
	// all lines of a protection, for values with wildcards
	denied, asked func() *pathname.Test
}

// protectedLine is one line of the list, or a file.
type protectedLine struct {
	protectedGlob
	base       string // of a line for one directory, which is no glob; "" for others
	protection condition.Protection

	made sync.Once
	test *pathname.Test // built on first use
}

// New returns the list for an environment. files are additional paths with the floor ask:
// the policy files in use.
func New(env condition.Env, files ...string) *List {
	p := &List{context: pathform.NewContext(env, true, true)}
	p.shell = pathform.NewContext(pathform.CommandEnv(env), true, true)
	p.literal = p.shell
	p.literal.Expands = false
	p.lines = make([]*protectedLine, 0, len(deniedPaths)+len(askedPaths)+len(files))
	for _, g := range deniedPaths {
		p.add(g, condition.DeniedTarget)
	}
	p.elsewhere(env.Settings, deniedPaths, condition.DeniedTarget)
	for _, g := range askedPaths {
		p.add(g, condition.AskedTarget)
	}
	p.elsewhere(env.Settings, askedPaths, condition.AskedTarget)
	p.denied = sync.OnceValue(func() *pathname.Test { return p.union(condition.DeniedTarget) })
	p.asked = sync.OnceValue(func() *pathname.Test { return p.union(condition.AskedTarget) })
	for _, f := range files {
		if canonical, info := pathform.AppendCanonical(nil, []byte(f)); len(canonical) > 0 && !info.Climbs {
			p.add(protectedGlob{string(canonical), ""}, condition.AskedTarget)
		}
	}
	p.names = sync.OnceValue(func() *nameIndex { return newNameIndex(p.lines, p.context.Env.Root) })
	return p
}

// add adds a line; one without names is a file.
func (p *List) add(g protectedGlob, protection condition.Protection) {
	p.lines = append(p.lines, &protectedLine{protectedGlob: g, protection: protection})
}

// literals returns the parsed glob of the line.
func (l *protectedLine) literals() []pathname.Literal {
	switch {
	case l.base != "":
		return l.below()
	case l.names == "":
		return []pathname.Literal{pathname.SplitLiteral(l.glob)}
	}
	return readListed(l.glob)
}

// readListed parses a glob of the list.
func readListed(glob string) []pathname.Literal {
	list, err := pathname.ReadPath(condition.Glob, glob, true)
	if err != nil {
		panic("protected list: " + glob + ": " + err.Error()) // unreachable: the list is constant, and every test compiles it
	}
	return list
}

func (p *List) test(list []pathname.Literal) *pathname.Test {
	b := pathname.Builder{Env: p.context.Env, Restrictive: true, Folded: true, Suspects: true}
	states := pathname.NewPathStates(b, func() []pathname.Literal { return list })
	return &pathname.Test{Context: p.context, PathStates: states, Aimed: pathform.Aims}
}

// lineTest returns the test of one line. If the line is a name in any directory, wildcards match it
// only if they begin with a part of the name.
func (p *List) lineTest(l *protectedLine) *pathname.Test {
	l.made.Do(func() { l.test = p.newLineTest(l) })
	return l.test
}

func (p *List) newLineTest(l *protectedLine) *pathname.Test {
	t := p.test(l.literals())
	if name, ok := strings.CutPrefix(l.glob, "**/"); ok && l.names != "" && !strings.Contains(name, "/") {
		t.Aimed = func(pattern string) bool {
			last := pattern[strings.LastIndexByte(pattern, '/')+1:]
			return pathform.Aims(pattern) && last != "" && !pathform.IsPattern(last[:1])
		}
	}
	return t
}

// union returns the test of all lines of one protection.
func (p *List) union(protection condition.Protection) *pathname.Test {
	var list []pathname.Literal
	for _, l := range p.lines {
		if l.protection == protection {
			list = append(list, l.literals()...)
		}
	}
	return p.test(list)
}

// Path evaluates the value of a path parameter. entry is the line of the list that it matches.
//
// For a value with wildcards only shell expansions count, and only if it states its target:
// ".git/h*" matches, "src/*" does not.
func (p *List) Path(value []byte) (protection condition.Protection, entry string) {
	if !utf8.Valid(value) {
		return condition.UnknownTarget, tooManyReadings
	}
	var buf [256]byte
	canonical, info, plain := p.context.Examine(buf[:0], value)
	if plain && p.context.Admits(canonical, info, nil) {
		return p.answer(p.touched(canonical, info.High))
	}
	return p.suspect(pathform.ReadingsOf(string(value), p.context.Env, p.context.Expands, nil))
}

// PathOf is Path for a value that other conditions share: the path is read once.
func (p *List) PathOf(v *condition.Value) (protection condition.Protection, entry string) {
	return p.judgeFrom(v, &p.context)
}

// judgeFrom evaluates a value in a context.
func (p *List) judgeFrom(value *condition.Value, from *pathform.Context) (protection condition.Protection, entry string) {
	v := pathform.Of(value)
	if !v.Valid() {
		return condition.UnknownTarget, tooManyReadings
	}
	if canonical, certain := v.Certain(from); certain {
		return p.answer(p.touched(canonical, v.Info.High))
	}
	return p.suspect(v.Readings(from))
}

// suspect evaluates the readings of a value.
func (p *List) suspect(list []pathform.Reading, unknown condition.Unknown) (protection condition.Protection, entry string) {
	first, reached := len(p.lines), len(p.lines)
	for _, r := range list {
		if r.Glob && pathform.Aims(r.Path) {
			first = min(first, p.touchedBy(r.Path, first))
		} else if r.Glob {
			reached = min(reached, p.reached(r.Path))
		} else {
			first = min(first, p.touched([]byte(r.Path), true))
		}
	}
	switch {
	case first < len(p.lines):
		return p.answer(first)
	case unknown != condition.Known:
		return condition.UnknownTarget, tooManyReadings
	case reached < len(p.lines):
		return condition.AskedTarget, p.lines[reached].glob
	}
	return condition.Unprotected, ""
}

// reached returns a denied line that a value with wildcards may match without naming it:
// "/run/user/*/*/*" also matches the tokens of a gate. They are never below the root of a project,
// so wildcards there are ignored.
func (p *List) reached(pattern string) int {
	root := p.context.Env.Root
	if inside, below := strings.CutPrefix(pattern, root); root != "" && below && strings.HasPrefix(inside, "/") {
		return len(p.lines)
	}
	if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "..") || !p.denied().Meets(pattern, false) {
		return len(p.lines)
	}
	for i, l := range p.lines {
		if l.protection == condition.DeniedTarget && p.lineTest(l).Meets(pattern, false) {
			return i
		}
	}
	return len(p.lines)
}

// tooManyReadings is the entry for a value whose readings cannot be listed.
const tooManyReadings = "a path of which it is not known what it names"

// answer returns the protection of a line; an index past the last line is none.
func (p *List) answer(line int) (protection condition.Protection, entry string) {
	if line == len(p.lines) {
		return condition.Unprotected, ""
	}
	return p.lines[line].protection, p.lines[line].glob
}

// touched returns the first line that a canonical path matches.
func (p *List) touched(canonical []byte, high bool) (first int) {
	first = len(p.lines)
	var tried [4]uint64 // a bit for each line: a path may have the name of one very often
	p.names().each(canonical, high, func(line int) {
		if line >= first {
			return
		}
		if at, bit := line/64, uint64(1)<<(line%64); at < len(tried) {
			if tried[at]&bit != 0 {
				return
			}
			tried[at] |= bit
		}
		if p.lineTest(p.lines[line]).Holds(canonical, high) {
			first = line
		}
	})
	return first
}

// touchedBy returns the first line below bound that a value with wildcards may match.
func (p *List) touchedBy(pattern string, bound int) int {
	denied, asked := p.denied().MayHold(pattern), p.asked().MayHold(pattern)
	for i, l := range p.lines[:bound] {
		if (l.protection == condition.DeniedTarget && denied || l.protection == condition.AskedTarget && asked) && p.lineTest(l).MayHold(pattern) {
			return i
		}
	}
	return bound
}
