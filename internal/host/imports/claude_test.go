package imports_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/claude"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// claudeSettings are settings in the model of Claude Code.
type claudeSettings struct {
	Allow, Ask, Deny []string
}

// lists returns the rules in the order in which Claude Code evaluates them.
func (s claudeSettings) lists() [3][]string { return [3][]string{s.Deny, s.Ask, s.Allow} }

var modesOfLists = [3]stopgate.Mode{stopgate.Deny, stopgate.Ask, stopgate.Unattended}

// bash evaluates a command line, each command separately. Wrappers and assignments are skipped, for
// allow rules only if Claude Code skips them.
func (s claudeSettings) bash(l line) stopgate.Mode {
	out := stopgate.Unattended
	special := stopgate.Ask // not matched by allow rules
	if slices.Contains(s.Allow, "Bash") || slices.Contains(s.Allow, "Bash(*)") {
		special = stopgate.Unattended
	}
	for i := range l.commands {
		texts := []string{l.bare(i)}
		if l.after[i] == "$(git push)" {
			out = strictest(out, s.simple([]string{"git push"}, []string{"git push"}))
			out = strictest(out, special)
			texts[0] += " " + l.after[i]
		}
		switch l.after[i] {
		case "> out":
			out = strictest(out, special)
		case "$?", "$HOME":
			out = strictest(out, special)
			texts[0] += " " + l.after[i]
		case nextLine:
			texts[0] += " " + l.after[i]
		}
		allowed := texts[:1:1]
		if l.before[i] != "" {
			texts = append(texts, l.before[i]+" "+texts[0])
			if l.before[i] != "timeout 5" {
				allowed = texts[1:]
			}
		}
		out = strictest(out, s.simple(texts, allowed))
	}
	return out
}

// simple evaluates one command, which has several texts; allow rules are matched with others.
func (s claudeSettings) simple(texts, allowed []string) stopgate.Mode {
	for i, list := range s.lists() {
		for _, r := range list {
			pattern, ok := strings.CutPrefix(r, "Bash(")
			if r == "Bash" {
				pattern, ok = "*)", true
			}
			if !ok {
				continue
			}
			pattern = strings.TrimSuffix(pattern, ")")
			if modesOfLists[i] == stopgate.Unattended {
				texts = allowed
			}
			for _, text := range texts {
				if claudeMatches(pattern, text) {
					return modesOfLists[i]
				}
			}
		}
	}
	return stopgate.Ask
}

// claudeMatches matches a Bash rule with a text as documented: "*" is anything, and a single one at
// the end after a blank is optional with the blank.
func claudeMatches(rule, text string) bool {
	if p, ok := strings.CutSuffix(rule, ":*"); ok {
		rule = p + " *"
	}
	if p, ok := strings.CutSuffix(rule, " *"); ok && !strings.Contains(p, "*") && text == p {
		return true
	}
	return stars(rule, text)
}

// stars matches with "*" as any text.
func stars(pattern, text string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == text
	}
	tail, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for i := 0; i <= len(tail); i++ {
		if stars(rest, tail[i:]) {
			return true
		}
	}
	return false
}

// Proves K0j: a policy converted from Bash rules of Claude Code is never weaker, and the same on
// plain lines if the report claims it.
func TestClaudeCommands(t *testing.T) {
	t.Parallel()
	rules := rapid.SampledFrom([]string{
		"Bash(git:*)", "Bash(git status)", "Bash(git push *)", "Bash(git * main)", "Bash(npm run build:*)", "Bash(npm run build*)", "Bash(ls*)", "Bash(ls *)",
		"Bash(git commit *)", "Bash(cat:*)", "Bash(* main)", "Bash(* --force *)", "Bash(npm run test)", "Bash(npm * test)", "Bash(git push --force:*)",
		"Bash(git status | cat)", "Bash", "Bash(*)", `Bash(git "push" *)`, "Bash(sudo:*)", "Bash(env:*)", "Bash(timeout:*)",
	})
	property.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfNDistinct(rules, 0, 4, rapid.ID[string])
		s := claudeSettings{Allow: some.Draw(t, "allow"), Ask: some.Draw(t, "ask"), Deny: some.Draw(t, "deny")}
		r := claudeImport(t, s)
		j := judgeOf(t, r)
		for range 8 {
			l := aLine().Draw(t, "line")
			got := j.decide("Bash", map[string]any{"command": l.text()})
			compare(t, j, l.text(), got, s.bash(l), theSame(r) && l.plain())
		}
	})
}

func claudeImport(t *rapid.T, s claudeSettings) *draft.Result {
	text, _ := json.Marshal(map[string]any{"permissions": map[string]any{"allow": s.Allow, "ask": s.Ask, "deny": s.Deny}})
	r, err := claude.Convert([]draft.File{{Name: "settings.json", Text: []byte(strings.ReplaceAll(string(text), "null", "[]"))}}, draft.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	if r.Remarks != "" {
		t.Fatalf("a strict check says: %s\n%s", r.Remarks, r.Policy)
	}
	return r
}

// ignoredBy matches a path of the project, and the directories above it, with a pattern of
// .gitignore, component by component.
func ignoredBy(pattern, path string) bool {
	base := root
	switch {
	case strings.HasPrefix(pattern, "//"):
		base, pattern = "", pattern[2:]
	case strings.HasPrefix(pattern, "~/"):
		base, pattern = "/home/u", pattern[2:]
	case strings.HasPrefix(pattern, "/"):
		pattern = "./" + pattern[1:]
	}
	rest, below := strings.CutPrefix(path, base+"/")
	if !below {
		return false
	}
	parts := strings.Split(rest, "/")
	anchored := base != root || strings.HasPrefix(pattern, "./") || strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	pattern = strings.TrimPrefix(pattern, "./")
	dir := strings.HasSuffix(pattern, "/")
	want := strings.Split(strings.TrimSuffix(pattern, "/"), "/")
	for n := 1; n <= len(parts); n++ { // the path itself and each directory above it
		if dir && n == len(parts) {
			continue
		}
		for from := 0; from < n; from++ {
			if from > 0 && anchored {
				break
			}
			if componentsMatch(want, parts[from:n]) {
				return true
			}
		}
	}
	return false
}

func componentsMatch(want, parts []string) bool {
	if len(want) == 0 {
		return len(parts) == 0
	}
	if want[0] == "**" {
		if len(want) == 1 {
			return len(parts) > 0
		}
		return componentsMatch(want[1:], parts) || len(parts) > 0 && componentsMatch(want, parts[1:])
	}
	return len(parts) > 0 && stars(want[0], parts[0]) && componentsMatch(want[1:], parts[1:])
}

// file evaluates a call of a tool for files. Reading below the working directory is allowed.
func (s claudeSettings) file(tool, path string) stopgate.Mode {
	edits := tool == "Edit" || tool == "Write"
	for i, list := range s.lists() {
		for _, r := range list {
			name, pattern, ok := strings.Cut(strings.TrimSuffix(r, ")"), "(")
			about := name == tool || ok && (name == "Edit" && edits || name == "Read" && tool == "Read" ||
				name == "Read" && edits && i == 0 || name == "Edit" && tool == "Read" && i == 2)
			if about && (!ok || ignoredBy(pattern, path)) {
				return modesOfLists[i]
			}
		}
	}
	if tool == "Read" && strings.HasPrefix(path, root+"/") {
		return stopgate.Unattended
	}
	return stopgate.Ask
}

// Proves K0j: rules for files keep their meaning, or become stricter.
func TestClaudeFiles(t *testing.T) {
	t.Parallel()
	rules := rapid.SampledFrom([]string{
		"Read(.env)", "Read(./.env)", "Read(src/**)", "Read(/src)", "Read(//etc/**)", "Read(~/x/**)", "Read(secrets/)", "Edit(src/**)", "Edit(docs/*.md)",
		"Edit(*.go)", "Edit(/docs/)", "Edit(//etc/x)", "Edit(**/node_modules/**)", "Edit", "Write", "Read", "Edit(src/*/x)", "Edit(src)", "Edit(!src/a.go)", "Edit(//srv/proj/src/**)",
	})
	property.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfNDistinct(rules, 0, 3, rapid.ID[string])
		s := claudeSettings{Allow: some.Draw(t, "allow"), Ask: some.Draw(t, "ask"), Deny: some.Draw(t, "deny")}
		if slices.Contains(s.Ask, "Edit") || slices.Contains(s.Allow, "Edit") { // the tools of a bare name are undocumented
			s.Ask, s.Allow = nil, slices.DeleteFunc(s.Allow, func(r string) bool { return r == "Edit" })
		}
		r := claudeImport(t, s)
		j := judgeOf(t, r)
		for range 8 {
			p := aPath().Draw(t, "path")
			tool := rapid.SampledFrom([]string{"Read", "Edit", "Write"}).Draw(t, "tool")
			args := map[string]any{"file_path": p}
			plain := !strings.Contains(p, "..") && !strings.HasPrefix(p, "./") && !strings.HasPrefix(p, "/home")
			compare(t, j, tool+" "+p, j.decide(tool, args), s.file(tool, cleaned(p)), theSame(r) && plain)
		}
	})
}

// Proves K0j: a wildcard at the end is optional for Claude Code only if it is the only one.
func TestClaudeWildcardAtTheEnd(t *testing.T) {
	text := `{"permissions":{"allow":["Bash(* --force *)","Bash(ls *)"]}}`
	r, err := claude.Convert([]draft.File{{Name: "settings.json", Text: []byte(text)}}, draft.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	for want, usage := range map[bool]string{true: `"* ** --force * **"`, false: `"* ** --force **"`} {
		if got := strings.Contains(string(r.Policy), usage); got != want {
			t.Errorf("%s: %v, want %v\n%s", usage, got, want, r.Policy)
		}
	}
}
