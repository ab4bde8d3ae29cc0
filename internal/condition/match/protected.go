package match

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Protection says what touching a path or running a command costs, whatever the
// rules say.
type Protection uint8

// The zero Protection is none.
const (
	Unprotected     Protection = iota
	UnknownTarget              // floor ask path_not_known: it may touch a path of the list
	ProtectedAsk               // floor ask protected_target (K2, H20)
	ProtectedDenied            // what guards the gate itself: deny (S4)
)

// protectedGlob is a line of the list, and the names, in lower case, of which every path
// that the line is about has one as a component: a path with none of them, as nearly all
// have, costs nothing. A name that ends in * is the beginning of one; | separates several.
type protectedGlob struct{ glob, names string }

// deniedPaths hold stopgate's own state, sockets and tokens: who writes there
// approves his own calls (S4).
var deniedPaths = []protectedGlob{
	{"**/.local/state/stopgate/**", "stopgate"}, {"**/.local/share/stopgate/**", "stopgate"}, {"**/Library/Application Support/stopgate/**", "stopgate"},
	{"/var/lib/stopgate/**", "stopgate"}, {"/run/stopgate/**", "stopgate"}, {"/run/user/*/stopgate/**", "stopgate"}, {"/var/run/stopgate/**", "stopgate"},
	{"/tmp/stopgate-*/**", "stopgate-*"},
	{"**/stopgate.sock", "stopgate.sock"}, {"**/stopgate*.token", "stopgate*"}, {"**/.config/stopgate/{token,tokens,keys}*", "stopgate"},
}

// askedPaths are the files that say what an agent may do, existing or not, and
// those that make other programs run what stands in them (K2, H20).
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

// Protected is the built-in list of paths and commands that no rule grants
// (H20, K2, S4). It suspects: every reading of a path counts, expanded ones too.
//
// Its automata are built when the first value needs them, line by line: a process that
// lives for one call pays for the lines that the call comes near.
type Protected struct {
	place   place
	shell   place // of words of command lines
	literal place // of those that a shell takes as they are
	lines   []*protectedLine
	names   func() *nameIndex
	// The lines of each protection as one, for values with wildcards.
	denied, asked func() *pathTest
}

// protectedLine is one line of the list, or a file.
type protectedLine struct {
	protectedGlob
	base       string // of a line about one directory, which is no glob; "" for others
	protection Protection

	made sync.Once
	test *pathTest // once made
}

// NewProtected prepares the list for an environment. files are further paths to
// protect with a floor ask: the policy files in use.
func NewProtected(env Env, files ...string) *Protected {
	p := &Protected{place: newPlace(env, true, true)}
	p.shell = newPlace(env.ofCommands(), true, true)
	p.literal = p.shell
	p.literal.expands = false
	p.lines = make([]*protectedLine, 0, len(deniedPaths)+len(askedPaths)+len(files))
	for _, g := range deniedPaths {
		p.add(g, ProtectedDenied)
	}
	p.elsewhere(env.Settings, deniedPaths, ProtectedDenied)
	for _, g := range askedPaths {
		p.add(g, ProtectedAsk)
	}
	p.elsewhere(env.Settings, askedPaths, ProtectedAsk)
	p.denied = sync.OnceValue(func() *pathTest { return p.union(ProtectedDenied) })
	p.asked = sync.OnceValue(func() *pathTest { return p.union(ProtectedAsk) })
	for _, f := range files {
		if canonical, info := appendCanonical(nil, []byte(f)); len(canonical) > 0 && !info.climbs {
			p.add(protectedGlob{string(canonical), ""}, ProtectedAsk)
		}
	}
	p.names = sync.OnceValue(func() *nameIndex { return newNameIndex(p.lines, p.place.env.Root) })
	return p
}

// add adds a line; one without names is a file.
func (p *Protected) add(g protectedGlob, protection Protection) {
	p.lines = append(p.lines, &protectedLine{protectedGlob: g, protection: protection})
}

// literals are what the line stands for.
func (l *protectedLine) literals() []pathLiteral {
	switch {
	case l.base != "":
		return l.below()
	case l.names == "":
		return []pathLiteral{splitLiteral(l.glob)}
	}
	return readListed(l.glob)
}

// readListed reads a glob of the list.
func readListed(glob string) []pathLiteral {
	list, err := readPath(Glob, glob, true)
	if err != nil {
		panic("protected list: " + glob + ": " + err.Error()) // not reached: the list is constant, and every test compiles it
	}
	return list
}

func (p *Protected) test(list []pathLiteral) *pathTest {
	b := pathBuilder{env: p.place.env, restrictive: true, folded: true, suspects: true}
	states := newPathStates(b, func() []pathLiteral { return list })
	return &pathTest{place: p.place, pathStates: states, aimed: aims}
}

// lineTest is the test of one line. One that is a name anywhere is touched by wildcards
// only if they begin with a part of the name.
func (p *Protected) lineTest(l *protectedLine) *pathTest {
	l.made.Do(func() { l.test = p.newLineTest(l) })
	return l.test
}

func (p *Protected) newLineTest(l *protectedLine) *pathTest {
	t := p.test(l.literals())
	if name, ok := strings.CutPrefix(l.glob, "**/"); ok && l.names != "" && !strings.Contains(name, "/") {
		t.aimed = func(pattern string) bool {
			last := pattern[strings.LastIndexByte(pattern, '/')+1:]
			return aims(pattern) && last != "" && !isPattern(last[:1])
		}
	}
	return t
}

// union is the test of all lines of one protection.
func (p *Protected) union(protection Protection) *pathTest {
	var list []pathLiteral
	for _, l := range p.lines {
		if l.protection == protection {
			list = append(list, l.literals()...)
		}
	}
	return p.test(list)
}

// Path judges the value of a path parameter. entry is the line of the list that
// it touches.
//
// Of a value with wildcards only what a shell would expand counts, and only if it
// says where it aims: ".git/h*" touches, "src/*" does not.
func (p *Protected) Path(value []byte) (protection Protection, entry string) {
	if !utf8.Valid(value) {
		return UnknownTarget, tooManyReadings
	}
	var buf [256]byte
	canonical, info, plain := p.place.examine(buf[:0], value)
	if plain && p.place.admits(canonical, info, nil) {
		return p.answer(p.touched(canonical, info.high))
	}
	return p.suspect(readings(string(value), p.place.env, p.place.expands, nil))
}

// PathOf is Path for a value that matchers judge too: the path is read once.
func (p *Protected) PathOf(v *Value) (protection Protection, entry string) {
	return p.judgeFrom(v, &p.place)
}

// judgeFrom judges a value that is read from a place.
func (p *Protected) judgeFrom(v *Value, from *place) (protection Protection, entry string) {
	if !v.valid {
		return UnknownTarget, tooManyReadings
	}
	if canonical, certain := v.certain(from); certain {
		return p.answer(p.touched(canonical, v.info.high))
	}
	return p.suspect(v.readings(from))
}

// suspect judges the readings of a value.
func (p *Protected) suspect(list []Reading, unknown Unknown) (protection Protection, entry string) {
	first, reached := len(p.lines), len(p.lines)
	for _, r := range list {
		if r.Glob && aims(r.Path) {
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
	case unknown != Known:
		return UnknownTarget, tooManyReadings
	case reached < len(p.lines):
		return ProtectedAsk, p.lines[reached].glob
	}
	return Unprotected, ""
}

// reached returns a line of what is denied that a value with wildcards may stand for though
// it names nothing of it: "/run/user/*/*/*" has the tokens of a gate, too. Below the root of
// a project nobody keeps them; there such a value is any file.
func (p *Protected) reached(pattern string) int {
	root := p.place.env.Root
	if inside, below := strings.CutPrefix(pattern, root); root != "" && below && strings.HasPrefix(inside, "/") {
		return len(p.lines)
	}
	if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "..") || !p.denied().meets(pattern, false) {
		return len(p.lines)
	}
	for i, l := range p.lines {
		if l.protection == ProtectedDenied && p.lineTest(l).meets(pattern, false) {
			return i
		}
	}
	return len(p.lines)
}

// tooManyReadings stands for the line that a value may touch when its readings
// cannot be listed.
const tooManyReadings = "a path of which it is not known what it names"

// answer is what touching a line means, the one behind the last for none.
func (p *Protected) answer(line int) (protection Protection, entry string) {
	if line == len(p.lines) {
		return Unprotected, ""
	}
	return p.lines[line].protection, p.lines[line].glob
}

// touched returns the first line that a canonical path touches.
func (p *Protected) touched(canonical []byte, high bool) (first int) {
	first = len(p.lines)
	p.names().each(canonical, high, func(line int) {
		if line < first && p.lineTest(p.lines[line]).holds(canonical, high) {
			first = line
		}
	})
	return first
}

// touchedBy returns the first line, below a bound, that one of the paths touches which a
// value with wildcards may stand for.
func (p *Protected) touchedBy(pattern string, bound int) int {
	denied, asked := p.denied().mayHold(pattern), p.asked().mayHold(pattern)
	for i, l := range p.lines[:bound] {
		if (l.protection == ProtectedDenied && denied || l.protection == ProtectedAsk && asked) && p.lineTest(l).mayHold(pattern) {
			return i
		}
	}
	return bound
}
