package regular_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// askEngine runs patterns and texts through a real ECMAScript engine. Its answer
// for each question is null for a pattern it refuses, else a verdict per text.
func askEngine(t *testing.T, flags string, questions [][]string) [][]bool {
	t.Helper()
	const program = `
		const out = [];
		for (const [pattern, ...texts] of JSON.parse(require('fs').readFileSync(0, 'utf8'))) {
			let re = null;
			try { re = new RegExp(pattern, process.argv[1]) } catch (e) {}
			out.push(re && texts.map(text => re.test(text)));
		}
		console.log(JSON.stringify(out));`
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "-e", program, "u"+flags)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers [][]bool
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions: %v", len(answers), len(questions), err)
	}
	return answers
}

func long(t *testing.T) {
	if os.Getenv("STOPGATE_LONG") == "" {
		t.Skip("STOPGATE_LONG is not set")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatal("the long tests need node, a real ECMAScript engine")
	}
}

// compare checks what we say of each question against the engine's answer.
func compare(t *testing.T, flags string, questions [][]string) {
	t.Helper()
	var agree, unsupported, invalid int
	for i, answer := range askEngine(t, flags, questions) {
		pattern := questions[i][0]
		if flags != "" {
			pattern = "(?" + flags + ":" + pattern + ")"
		}
		p, err := regular.Compile(pattern)
		var syntax *regular.SyntaxError
		switch {
		case errors.As(err, &syntax) && syntax.Unsupported:
			unsupported++
		case errors.As(err, &syntax):
			invalid++
			if answer != nil {
				t.Errorf("%q is valid, but: %v", pattern, err)
			}
		case answer == nil:
			if strings.Count(pattern, "(?<n>") > 1 || strings.Contains(questions[i][0], "(?i:") || strings.Contains(questions[i][0], "(?m:") || strings.Contains(questions[i][0], "(?-") || strings.Contains(questions[i][0], "(?s") {
				continue // modifiers, and a name in two alternatives, are younger (2025) than many engines
			}
			t.Errorf("%q is invalid, but accepted", pattern)
		default:
			for j, text := range questions[i][1:] {
				if strings.Contains(pattern, `\B`) && strings.ContainsFunc(text, func(r rune) bool { return r > 0xFFFF }) {
					continue // V8 finds \B inside a surrogate pair, against the specification
				}
				agree++
				if p.Match([]byte(text)) != answer[j] {
					t.Errorf("%q on %q: the engine says %v", pattern, text, answer[j])
				}
			}
		}
	}
	t.Logf("verdicts that agree %d, patterns refused as unsupported %d, as invalid %d", agree, unsupported, invalid)
}

// Proves D4, Q9: accepted and refused patterns, and verdicts, are those of a real
// ECMAScript engine.
func TestMatchesLikeECMAScript(t *testing.T) {
	long(t)
	var questions [][]string
	for _, test := range matching {
		questions = append(questions, append(append([]string{test.pattern}, test.yes...), test.no...))
	}
	for _, test := range refused {
		if test.name != "not UTF-8" && test.name != "not UTF-8 behind U+FFFD" && test.name != "deep groups" {
			questions = append(questions, []string{test.pattern})
		}
	}
	generatedPatterns, generatedTexts := patterns(), rapid.SliceOfN(texts(), 5, 5)
	for seed := range 20_000 {
		question := []string{generatedPatterns.Example(seed)}
		questions = append(questions, append(question, generatedTexts.Example(seed)...))
	}
	for _, flags := range []string{"", "i", "m", "s", "ims"} {
		t.Run("flags "+flags, func(t *testing.T) { compare(t, flags, questions) })
		questions = questions[:min(len(questions), 4000)] // the flags change little else
	}
}

// Proves Q9: the Unicode properties have the engine's names, and the engine's
// code points among those that Unicode 16 has assigned. The engine's own version of
// Unicode may be another; a few code points change with each.
func TestPropertiesLikeECMAScript(t *testing.T) {
	long(t)
	var code []string
	var points [][]byte
	assigned, err := regular.Compile(`\P{Cn}`)
	if err != nil {
		t.Fatal(err)
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if (r < 0xD800 || r > 0xDFFF) && (r < 0x3400 || r%16 == 0) && assigned.Match([]byte(string(r))) {
			code = append(code, string(r))
			points = append(points, []byte(string(r)))
		}
	}
	names := regular.PropertyNames()
	var questions [][]string
	for _, name := range names {
		questions = append(questions, append([]string{`^\p{` + name + `}$`}, code...))
	}
	for i := 0; i < len(questions); i += 8 {
		batch := questions[i:min(i+8, len(questions))]
		for j, answer := range askEngine(t, "", batch) {
			p, err := regular.Compile(batch[j][0])
			if err != nil || answer == nil {
				t.Errorf("%s: %v, the engine knows it: %v", batch[j][0], err, answer != nil)
				continue
			}
			var differ []string
			for k, point := range points {
				if p.Match(point) != answer[k] {
					differ = append(differ, code[k])
				}
			}
			if len(differ) > 0 {
				t.Logf("%s differs in %d of %d code points, first %+q", batch[j][0], len(differ), len(code), differ[:min(5, len(differ))])
			}
			few := len(code) / 500
			if strings.Contains(batch[j][0], "Pict") {
				few = len(code) / 100 // Unicode 17 took 202 symbols from it
			}
			if len(differ) > few {
				t.Errorf("%s is another property", batch[j][0])
			}
		}
	}
}
