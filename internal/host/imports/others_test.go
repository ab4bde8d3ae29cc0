package imports_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/claude"
	"github.com/stopgate/stopgate/internal/host/imports/codex"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/host/imports/gemini"
	"github.com/stopgate/stopgate/internal/host/imports/opencode"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// decisions maps words of hosts to modes.
var decisions = map[string]stopgate.Mode{
	"allow": stopgate.Unattended, "prompt": stopgate.Ask, "ask_user": stopgate.Ask, "ask": stopgate.Ask, "forbidden": stopgate.Deny, "deny": stopgate.Deny,
}

// codexModel is a list of prefix rules.
type codexModel []struct {
	pattern  [][]string
	decision string
}

// decide evaluates one command as Codex does: the strictest matching rule, and without one its
// sandbox, which counts as ask here.
func (m codexModel) decide(words []string) stopgate.Mode {
	out, any := stopgate.Unattended, false
	for _, r := range m {
		matches := len(words) >= len(r.pattern)
		for i, alternatives := range r.pattern {
			matches = matches && contains(alternatives, words[i])
		}
		if matches {
			out, any = strictest(out, decisions[r.decision]), true
		}
	}
	if !any {
		return stopgate.Ask
	}
	return out
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// line evaluates a command line. Codex splits it only if it is plain.
func (m codexModel) line(l line) stopgate.Mode {
	out := stopgate.Unattended
	for i := range l.commands {
		one := m.decide(l.commands[i])
		if l.before[i] != "" || l.after[i] != "" {
			one = stopgate.Ask
			if l.after[i] == "2>&1" && l.before[i] == "" {
				one = m.decide(l.commands[i]) // it may be skipped
			}
		}
		out = strictest(out, one)
	}
	return out
}

// Proves K0j: a policy converted from prefix rules of Codex is never weaker, and the same on plain
// lines if the report claims it.
func TestCodexCommands(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"git", "push", "status", "npm", "run", "test", "--force", "a b", "src/a", "x"})
	property.Check(t, func(t *rapid.T) {
		var m codexModel
		var text strings.Builder
		for range rapid.IntRange(0, 4).Draw(t, "rules") {
			var r struct {
				pattern  [][]string
				decision string
			}
			var parts []string
			for range rapid.IntRange(1, 3).Draw(t, "words") {
				list := rapid.SliceOfNDistinct(word, 1, 2, rapid.ID[string]).Draw(t, "word")
				r.pattern = append(r.pattern, list)
				b, _ := json.Marshal(list)
				if len(list) == 1 {
					b, _ = json.Marshal(list[0])
				}
				parts = append(parts, string(b))
			}
			r.decision = rapid.SampledFrom([]string{"allow", "prompt", "forbidden"}).Draw(t, "decision")
			fmt.Fprintf(&text, "prefix_rule(pattern=[%s], decision=%q)\n", strings.Join(parts, ", "), r.decision)
			m = append(m, r)
		}
		r, err := codex.Convert([]draft.File{{Name: "default.rules", Text: []byte(text.String())}}, draft.Options{Root: root})
		if err != nil || r.Remarks != "" {
			t.Fatalf("%v %s", err, r.Remarks)
		}
		j := judgeOf(t, r)
		for range 8 {
			l := aLine().Draw(t, "line")
			got := j.decide("Bash", map[string]any{"command": l.text()})
			compare(t, j, l.text(), got, m.line(l), theSame(r) && l.plain())
		}
	})
}

// firstMatch is a list of rules of which the first that matches a command decides.
type firstMatch struct {
	rules []func(command string) (stopgate.Mode, bool)
	last  stopgate.Mode
}

func (m firstMatch) simple(command string) stopgate.Mode {
	for _, r := range m.rules {
		if mode, ok := r(command); ok {
			return mode
		}
	}
	return m.last
}

// line evaluates a command line: every command in it, including those that others run. Special
// syntax asks at least.
func (m firstMatch) line(l line, extracts bool) stopgate.Mode {
	out := stopgate.Unattended
	for i := range l.commands {
		text := l.bare(i)
		switch l.after[i] {
		case "$(git push)":
			out = strictest(out, m.simple("git push"))
			out = strictest(out, stopgate.Ask)
			text += " $(git push)"
		case "> out":
			out = strictest(out, stopgate.Ask)
		case "$?", "$HOME":
			out = strictest(out, stopgate.Ask)
			text += " " + l.after[i]
		case nextLine:
			text += " " + l.after[i]
		}
		// A quoted word means the same, whether the host handles quotes or not.
		weakest := func(text string) stopgate.Mode {
			a, b := m.simple(text), m.simple(strings.ReplaceAll(text, `"`, ""))
			if strength[a] < strength[b] {
				return a
			}
			return b
		}
		if l.before[i] != "" {
			if extracts && l.before[i] != "FOO=1" {
				out = strictest(out, weakest(text))
			}
			text = l.before[i] + " " + text
		}
		out = strictest(out, weakest(text))
	}
	return out
}

// Proves K0j: policies converted from rules of Gemini CLI with priorities are never weaker, and the
// same on plain lines if the report claims it.
func TestGeminiCommands(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		var text strings.Builder
		type one struct {
			priority int
			match    func(string) (stopgate.Mode, bool)
		}
		var list []one
		for range rapid.IntRange(0, 5).Draw(t, "rules") {
			prefix := rapid.SampledFrom([]string{"", "git", "git push", "git status", "npm run", "npm run test", "ls", "git push --force"}).Draw(t, "prefix")
			decision := rapid.SampledFrom([]string{"allow", "ask_user", "deny"}).Draw(t, "decision")
			priority := rapid.IntRange(0, 9).Draw(t, "priority")
			fmt.Fprintf(&text, "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = %q\npriority = %d\n", decision, priority)
			if prefix != "" {
				fmt.Fprintf(&text, "commandPrefix = %q\n", prefix)
			}
			list = append(list, one{priority, func(command string) (stopgate.Mode, bool) {
				return decisions[decision], prefix == "" || command == prefix || strings.HasPrefix(command, prefix+" ")
			}})
		}
		m := firstMatch{last: stopgate.Ask}
		everything := false
		for p := 9; p >= 0; p-- {
			for _, o := range list {
				if o.priority == p {
					m.rules = append(m.rules, o.match)
				}
			}
		}
		for _, r := range m.rules { // a permissive rule on every command allows redirections too
			if mode, ok := r("\x00"); ok {
				everything = mode == stopgate.Unattended
				break
			}
		}
		r, err := gemini.Convert([]draft.File{{Name: "rules.toml", Text: []byte(text.String())}}, draft.Options{Root: root})
		if err != nil || r.Remarks != "" {
			t.Fatalf("%v %s", err, r.Remarks)
		}
		j := judgeOf(t, r)
		for range 8 {
			l := aLine().Draw(t, "line")
			got := j.decide("run_shell_command", map[string]any{"command": l.text()})
			host := m.line(l, false)
			if everything && !l.plain() && host == stopgate.Ask {
				continue
			}
			compare(t, j, l.text(), got, host, theSame(r) && l.plain())
		}
	})
}

// Proves K0j: policies converted from opencode's permissions, of which the last match applies, are
// never weaker, and the same on plain lines if the report claims it.
func TestOpenCodeCommands(t *testing.T) {
	t.Parallel()
	patterns := rapid.SampledFrom([]string{"*", "git *", "git push *", "git status", "npm run *", "ls*", "* main", "git * main", "npm ??? test", `git "push" *`, "git push --force *"})
	property.Check(t, func(t *rapid.T) {
		var parts []string
		m := firstMatch{last: stopgate.Ask}
		all := stopgate.Ask
		for _, p := range rapid.SliceOfNDistinct(patterns, 0, 5, rapid.ID[string]).Draw(t, "patterns") {
			action := rapid.SampledFrom([]string{"allow", "ask", "deny"}).Draw(t, "action")
			key, _ := json.Marshal(p)
			parts = append(parts, string(key)+": \""+action+"\"")
			m.rules = append([]func(string) (stopgate.Mode, bool){func(command string) (stopgate.Mode, bool) {
				body, tail := strings.CutSuffix(p, " *")
				return decisions[action], questions(p, command) || tail && questions(body, command)
			}}, m.rules...)
			if p == "*" {
				all = decisions[action]
			}
		}
		text := `{ // comments are fine
		"permission": {"bash": {` + strings.Join(parts, ", ") + `,}}}`
		r, err := opencode.Convert([]draft.File{{Name: "opencode.jsonc", Text: []byte(strings.Replace(text, "{,}", "{}", 1))}}, draft.Options{Root: root})
		if err != nil || r.Remarks != "" {
			t.Fatalf("%v %+v", err, r)
		}
		j := judgeOf(t, r)
		for range 8 {
			l := aLine().Draw(t, "line")
			got := j.decide("bash", map[string]any{"command": l.text()})
			host := m.line(l, true)
			if all == stopgate.Unattended && !l.plain() && host == stopgate.Ask {
				continue
			}
			compare(t, j, l.text(), got, host, theSame(r) && l.plain())
		}
	})
}

// Proves K0j: a wildcard of a host matches nothing that its rule does not: no option before it, no
// further word after a "?".
func TestWildcardsPermitNoMore(t *testing.T) {
	for pattern, lines := range map[string]map[string]bool{
		"npm run * test":       {"npm run x test": true, "npm run x y test": true, "npm --force run x test": false, "npm run test": false},
		"npm ??? test":         {"npm run test": true, "npm run x test": false, "npm --force run test": false, "npm test": false},
		"n?? run":              {"npm run": true, "npm -f run": false, "npm test run": false},
		"git push --force * x": {"git push --force a x": true, "git push -v --force a x": false, "git -f push --force a x": false},
		"npm run build*":       {"npm run build:x": true, "npm run build -v": true, "npm -f run build": false},
		"git * main":           {"git push main": true, "git -C x push main": true, "git push main --force": false},
	} {
		text, _ := json.Marshal(map[string]any{"permission": map[string]any{"bash": map[string]string{pattern: "allow"}}})
		r, err := opencode.Convert([]draft.File{{Name: "opencode.json", Text: text}}, draft.Options{Root: root})
		if err != nil || r.Remarks != "" {
			t.Fatalf("%s: %v %s", pattern, err, r.Remarks)
		}
		j := judgeOf(t, r)
		for command, free := range lines {
			if got := j.decide("bash", map[string]any{"command": command}); (got.Mode == stopgate.Unattended) != free {
				t.Errorf("%s: %s is %v", pattern, command, got.Mode)
			}
		}
	}
}

// questions matches with "*" as any text and "?" as any character.
func questions(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	switch {
	case pattern[0] == '*':
		return questions(pattern[1:], text) || text != "" && questions(pattern, text[1:])
	case text == "":
		return false
	case pattern[0] == '?', pattern[0] == text[0]:
		return questions(pattern[1:], text[1:])
	}
	return false
}

// Proves K0j: the same for files of opencode.
func TestOpenCodeFiles(t *testing.T) {
	t.Parallel()
	patterns := rapid.SampledFrom([]string{"*", "src/*", "*.md", "docs/*.md", "*.env", "src/a.go", "*/x/*", "src/*/x", "*secrets*", "~/x/*"})
	property.Check(t, func(t *rapid.T) {
		var parts []string
		type one struct{ pattern, action string }
		var list []one
		for _, p := range rapid.SliceOfNDistinct(patterns, 0, 4, rapid.ID[string]).Draw(t, "patterns") {
			o := one{p, rapid.SampledFrom([]string{"allow", "ask", "deny"}).Draw(t, "action")}
			list = append(list, o)
			parts = append(parts, fmt.Sprintf("%q: %q", o.pattern, o.action))
		}
		text := `{"permission": {"edit": {` + strings.Join(parts, ", ") + `}}}`
		r, err := opencode.Convert([]draft.File{{Name: "opencode.json", Text: []byte(text)}}, draft.Options{Root: root})
		if err != nil || r.Remarks != "" {
			t.Fatalf("%v %+v", err, r)
		}
		j := judgeOf(t, r)
		for range 8 {
			p := aPath().Draw(t, "path")
			got := j.decide("edit", map[string]any{"filePath": p, "oldString": "a", "newString": "b"})
			relative, below := strings.CutPrefix(cleaned(p), root+"/")
			host := stopgate.Ask
			if !below {
				relative = "../" + strings.TrimPrefix(cleaned(p), "/srv/")
			}
			for _, o := range list {
				if questions(strings.Replace(o.pattern, "~", "/home/u", 1), relative) {
					host = decisions[o.action]
				}
			}
			if !below {
				host = strictest(host, stopgate.Ask)
			}
			compare(t, j, p, got, host, false)
		}
	})
}

// The report of a rule is about that rule: it names no rule of the policy, which the user has not
// seen, and does not repeat itself.
func TestReportsAreAboutTheSource(t *testing.T) {
	const settings = `{"permissions":{"allow":["Read(~/foo/**)","Bash(sudo:*)","Bash(awk:*)","Read(C:\\\\x)","Read(*)"],"deny":["Edit(~/.ssh/**)","Read(src/../y)"]}}`
	result, err := claude.Convert([]draft.File{{Name: "settings.json", Text: []byte(settings)}}, draft.Options{Root: "/srv/proj"})
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`\b(rule|guard) \d`)
	for _, r := range result.Rules {
		seen := make(map[string]bool)
		for part := range strings.SplitSeq(r.Note, "; ") {
			if own.MatchString(part) || seen[part] {
				t.Errorf("%s: %s", r.Text, r.Note)
			}
			seen[part] = true
		}
	}
}

// Proves K47: a rule about files in the home directory stays a rule about these files.
func TestHomeIsNoReasonForEveryCall(t *testing.T) {
	const settings = `{"permissions":{"deny":["Edit(~/.ssh/**)"],"ask":["Edit(~/notes/*.md)"]}}`
	result, err := claude.Convert([]draft.File{{Name: "settings.json", Text: []byte(settings)}}, draft.Options{Root: "/srv/proj"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range result.Rules {
		if want := "also for commands that may write such a file"; r.Outcome != draft.Stricter || r.Note != want {
			t.Errorf("%s: %s: %s, want %s", r.Text, r.Outcome, r.Note, want)
		}
	}
	for _, glob := range []string{"~/.ssh/**", "~/notes/*.md"} {
		if want := `{ arg = "/file_path", glob = "` + glob + `", mode = `; strings.Count(string(result.Policy), want) != 3 {
			t.Errorf("not three times %s in\n%s", want, result.Policy)
		}
	}
}
