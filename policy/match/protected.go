package match

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/automaton"
	"github.com/stopgate/stopgate/internal/shell"
)

// Protection says what touching a path or running a command costs, whatever the
// rules say.
type Protection uint8

// The zero Protection is none.
const (
	Unprotected     Protection = iota
	ProtectedAsk               // floor ask protected_target (K2, H20)
	ProtectedDenied            // what guards the gate itself: deny (S4)
)

// deniedPaths hold stopgate's own state, sockets and tokens: who writes there
// approves his own calls (S4).
var deniedPaths = []string{
	"**/.local/state/stopgate/**", "**/.local/share/stopgate/**", "**/Library/Application Support/stopgate/**",
	"/var/lib/stopgate/**", "/run/stopgate/**", "/run/user/*/stopgate/**", "/var/run/stopgate/**", "/tmp/stopgate-*/**",
	"**/stopgate.sock", "**/stopgate*.token", "**/.config/stopgate/{token,tokens,keys}*",
}

// askedPaths are the files that say what an agent may do, existing or not, and
// those that make other programs run what stands in them (K2, H20).
var askedPaths = []string{
	"**/stopgate.toml", "**/.stopgate/**", "**/.config/stopgate/**", "/etc/stopgate/**",
	"**/.claude/settings*.json", "**/.claude/hooks/**", "**/.claude.json", "**/.mcp.json", "/etc/claude-code/**",
	"**/.codex/{config.toml,hooks.json}", "**/.codex/{hooks,rules}/**", "/etc/codex/**",
	"**/.gemini/{settings.json,.env}", "**/.gemini/{hooks,policies,extensions}/**", "/etc/gemini-cli/**",
	"**/.cursor/*.json", "**/.cursor/hooks/**", "/etc/cursor/**",
	"**/.github/{hooks,copilot}/**", "**/.copilot/**", "**/.config/github-copilot/**", "/etc/github-copilot/**",
	"**/.vscode/{settings,mcp,tasks}.json",
	"**/opencode.{json,jsonc}", "**/.opencode/**", "**/.config/opencode/**",
	"**/.qwen/settings.json", "**/.qwen/hooks/**",
	"**/{.crush,crush}.json", "**/.config/crush/**",
	"**/.clinerules/hooks/**", "**/Cline/Hooks/**",
	"**/{.windsurf,windsurf}/hooks.json", "**/.pi/**", "**/.factory/settings*.json", "**/.augment/settings*.json",
	"**/.amp/settings*.json", "**/.config/amp/settings*.json", "**/.kiro/{hooks,settings,agents}/**", "**/.kimi/config.toml", "**/.config/goose/**",
	"**/.git/hooks/**", "**/.git/{config,config.worktree}", "**/.git/modules/**/hooks/**", "**/.git/modules/**/config",
	"**/.gitconfig", "**/.config/git/**", "/etc/gitconfig",
}

// Protected is the built-in list of paths and commands that no rule grants
// (H20, K2, S4). It suspects: every reading of a path counts, expanded ones too.
//
// Its automata are built when the first value needs them: a policy for tools without
// paths does not pay for them.
type Protected struct {
	place         place
	literal       place // of words that a shell takes as they are
	files         []string
	needles       func() *needles
	denied, asked func() *pathTest
	// The lines of both lists one by one: only a value that touches the list asks which
	// of them it touches.
	deniedLines, askedLines func() []protectedLine
}

// protectedLine is one line of the list.
type protectedLine struct {
	text string
	test *pathTest
}

// NewProtected prepares the list for an environment. files are further paths to
// protect with a floor ask: the policy files in use.
func NewProtected(env Env, files ...string) *Protected {
	p := &Protected{place: newPlace(env, true, true)}
	for _, f := range files {
		if canonical, info := appendCanonical(nil, []byte(f)); len(canonical) > 0 && !info.climbs {
			p.files = append(p.files, string(canonical))
		}
	}
	p.literal = p.place
	p.literal.expands = false
	p.needles = sync.OnceValue(func() *needles { return newNeedles(slices.Concat(deniedPaths, askedPaths), p.files, p.place.env.Root) })
	p.denied = sync.OnceValue(func() *pathTest { return p.test(deniedPaths, nil) })
	p.asked = sync.OnceValue(func() *pathTest { return p.test(askedPaths, p.files) })
	p.deniedLines = sync.OnceValue(func() []protectedLine { return p.lines(deniedPaths, nil) })
	p.askedLines = sync.OnceValue(func() []protectedLine { return p.lines(askedPaths, p.files) })
	return p
}

func (p *Protected) test(globs, files []string) *pathTest {
	b := pathBuilder{NFA: automaton.New(), env: p.place.env, restrictive: true, folded: true, suspects: true}
	for _, g := range globs {
		if err := b.add(Glob, g); err != nil {
			panic("protected list: " + g + ": " + err.Error()) // not reached: the list is constant, and every test compiles it
		}
	}
	for _, f := range files {
		b.addLiteral(splitLiteral(f))
	}
	t := newPathTest(b.NFA, p.place)
	t.aimed, t.listed = aims, true
	return t
}

// Path judges the value of a path parameter. entry is the line of the list that
// it touches.
//
// Of a value with wildcards only what a shell would expand counts, and only if it
// says where it aims: ".git/h*" touches, "src/*" does not.
func (p *Protected) Path(value []byte) (protection Protection, entry string) {
	var buf [256]byte
	canonical, info, plain := examine(buf[:0], value)
	certain := plain && p.place.admits(value, canonical, info)
	if certain && p.needles().clears(canonical) {
		return Unprotected, ""
	}
	if certain && !p.denied().holds(canonical, info.high) && !p.asked().holds(canonical, info.high) {
		return Unprotected, ""
	}
	v := new(Value)
	v.Reset(value)
	return p.Judge(v)
}

// PathOf is Path for a value that matchers judge too: the path is read once.
func (p *Protected) PathOf(v *Value) (protection Protection, entry string) {
	if v.valid && len(v.text) <= Budget {
		if canonical, certain := v.certain(&p.place); certain && p.needles().clears(canonical) {
			return Unprotected, ""
		}
	}
	return p.Judge(v)
}

// Judge is PathOf by the automata of the whole list.
func (p *Protected) Judge(v *Value) (protection Protection, entry string) {
	return p.judge(v, &p.place)
}

// judge judges a value that is read from a place.
func (p *Protected) judge(v *Value, from *place) (protection Protection, entry string) {
	if !v.valid || len(v.text) > Budget {
		return ProtectedAsk, tooManyReadings
	}
	if p.denied().judgeFrom(v, from) {
		if entry := touched(p.deniedLines(), v, from); entry != "" {
			return ProtectedDenied, entry
		}
	}
	if p.asked().judgeFrom(v, from) {
		if entry := touched(p.askedLines(), v, from); entry != "" {
			return ProtectedAsk, entry
		}
	}
	if _, certain := v.certain(from); !certain {
		if _, complete := v.readings(from); !complete {
			return ProtectedAsk, tooManyReadings
		}
	}
	return Unprotected, ""
}

// tooManyReadings stands for the line that a value may touch when its readings
// cannot be listed.
const tooManyReadings = "a path with more readings than are listed"

// lines compiles a list line by line. A line that is one name anywhere is touched by
// wildcards only if they begin with a part of the name.
func (p *Protected) lines(globs, files []string) []protectedLine {
	var all []protectedLine
	for _, g := range globs {
		t := p.test([]string{g}, nil)
		if name, ok := strings.CutPrefix(g, "**/"); ok && !strings.Contains(name, "/") {
			t.aimed = func(pattern string) bool {
				last := pattern[strings.LastIndexByte(pattern, '/')+1:]
				return aims(pattern) && last != "" && !isPattern(last[:1])
			}
		}
		all = append(all, protectedLine{g, t})
	}
	for _, f := range files {
		all = append(all, protectedLine{f, p.test(nil, []string{f})})
	}
	return all
}

// touched finds the line that a value touches.
func touched(lines []protectedLine, v *Value, from *place) string {
	for _, l := range lines {
		if l.test.judgeFrom(v, from) {
			return l.text
		}
	}
	return ""
}

// administration are the subcommands of stopgate that answer for a person or
// remove the gate (S4).
var administration = map[string]bool{
	"approvals": true, "grants": true, "install": true, "uninstall": true, "sessions": true, "pin": true, "lockdown": true, "trust": true,
}

// Command judges a command line: what administers stopgate, what configures git,
// and every word that may be a protected path. entry says what it touches.
func (p *Protected) Command(line []byte) (protection Protection, entry string) {
	v := new(Value)
	v.Reset(line)
	return p.JudgeCommand(v)
}

// JudgeCommand is Command for a value that matchers judge too.
func (p *Protected) JudgeCommand(v *Value) (protection Protection, entry string) {
	if !v.valid || len(v.text) > Budget {
		return ProtectedAsk, tooManyReadings
	}
	lines := []*shell.Line{v.line()}
	if other := v.otherLine(); other != nil {
		lines = append(lines, other)
	}
	for _, l := range lines {
		for i := range l.Commands {
			if q, e := p.command(&l.Commands[i]); q > protection {
				protection, entry = q, e
			}
		}
	}
	return protection, entry
}

// command judges one simple command. Every word counts, wherever it stands: who gives
// a protected path to a program means it.
func (p *Protected) command(c *shell.Command) (protection Protection, entry string) {
	raise := func(q Protection, e string) {
		if q > protection {
			protection, entry = q, e
		}
	}
	path := func(text []byte, literal bool) (Protection, string) {
		var buf [256]byte
		canonical, info, plain := examine(buf[:0], text)
		from := &p.place
		if literal {
			from = &p.literal
		}
		if plain && from.admits(text, canonical, info) && !p.denied().holds(canonical, info.high) && !p.asked().holds(canonical, info.high) {
			return Unprotected, ""
		}
		v := new(Value)
		v.Reset(text)
		return p.judge(v, from)
	}
	var program string // stopgate or git, once it was named
	for i := range c.Words {
		word := c.Words[i].Text
		if len(word) == 0 {
			continue
		}
		name := shell.Base(word)
		switch {
		case bytes.EqualFold(name, []byte("stopgate")):
			program = "stopgate"
		case bytes.EqualFold(name, []byte("git")):
			program = "git"
		case program == "stopgate" && administration[string(word)]:
			raise(ProtectedDenied, "stopgate "+string(word))
		case program == "git" && string(word) == "config" && !readsConfig(c.Words[i+1:]):
			raise(ProtectedAsk, "git config")
		}
		if word[0] != '-' {
			raise(path(word, c.Words[i].Literal))
		} else if len(word) > 2 && bytes.ContainsAny(word, "./") { // -oFILE
			raise(path(word[2:], c.Words[i].Literal))
		}
		if at := bytes.IndexByte(word, '='); at >= 0 {
			raise(path(word[at+1:], c.Words[i].Literal))
		}
	}
	for i := range c.Redirects {
		raise(path(c.Redirects[i].Target.Text, c.Redirects[i].Target.Literal))
	}
	return protection, entry
}

// readsConfig reports arguments of git config that only print.
func readsConfig(args []shell.Word) bool {
	if len(args) == 0 {
		return false
	}
	switch strings.TrimLeft(string(args[0].Text), "-") {
	case "get", "get-all", "get-regexp", "list", "l", "show-origin":
		return true
	}
	return false
}
