package gen

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/testkit/naive"
)

// Vocabularies that rules and documents share.
var (
	texts = []string{"a", "ab", "abc", "rm", "rm -rf", " rm ", "r\u200bm", "b", "", "é", "a b", "tag\n"}
	paths = []string{
		"src/a", "src/a", "src/a/b", "src", "src-old/a", ".env", "src/.env", "src/../.env", "./src/a", "src//a", "src/x/../a", "src/",
		"/srv/proj/src/a", "/srv/proj/.env", "/etc/passwd", "SRC/a", ".ENV", "src/%2e%2e/.env", `src\..\.env`, "~/x", "", "-rf",
		".git/config", "lib/.git/hooks/x", "src/a\x00b", "src/\tb", "../src/a", "file:///srv/proj/.env", "src/a.",
	}
	lines = []string{
		"git status", "git status -s", "git push", "rm -rf x", "rm -rf x", "ls", "ls -l", "git  status", "git status; rm -rf x", "echo $(rm x)",
		"git status && ls", "", "ls -l | rm x", "ls src/a\ngit push", "ls > .env", ">x rm y", "ls 2>/dev/null", "X=1 rm x", "ls $x", "timeout 1 rm x",
		"bash -c 'git status'", "ls .env",
	}
	moved = append(slices.Clone(lines), "cd - && cat src/a",
		"if git status; then rm -rf x; else ls; fi", "while ls -l; do git push; done", "case x in a) rm x;; *) ls;; esac", "for f in x .env; do rm $f; done",
		"(ls; rm x)", "{ git status; ls -l; } > .env", "while ls; do rm x & done")
	vectors = [][]string{
		{"git", "status"}, {"git", "status", "-s"}, {"git", "push"}, {"rm", "-rf", "x"}, {"ls"}, {"ls", "-l"}, {"ls", ".env"}, {"ls", "src/a b"}, {"git status"},
		{"git", "status; rm x"}, {"timeout", "1", "rm", "x"}, {"bash", "-c", "git status"}, {"bash", "-c", "git status; rm -rf x"}, {"ls", "a\u0000b"}, {}, {""},
		{"ls", ".git/config"}, {"rm", "$x", "*", "a\nb"}, {"bash", "-c", "ls $x"},
	}
	patches = slices.Sorted(slices.Values(append(naive.Patches(), "src/a", "*** Begin Patch\n")))
	numbers = []string{"0", "1", "1.0", "5", "-0", "1e0", "-1", "0.5", "1e2", "9007199254740992", "9007199254740993", "100"}
	keys    = []string{"path", "PATH", "paths", "n", "name", "name\x00", "root", "force", "opts", "HOME", "__proto__", "path_alias"}
)

// writer writes a random document that comes near a schema.
type writer struct {
	strings.Builder
	r *rand.Rand
	// odd is how often, in 1000, something does not fit the schema.
	odd int
	// blind says that somebody sees the document without a schema.
	blind bool
	// moves says that command lines may work in an unknown directory.
	moves bool
}

func (w *writer) oddly() bool { return w.odd > 0 && w.r.IntN(1000) < w.odd }

func (w *writer) space() {
	if w.odd > 0 && w.r.IntN(12) == 0 {
		w.WriteString([]string{" ", "\n", "\t ", "\r\n"}[w.r.IntN(4)])
	}
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// value writes a value for a schema, mostly one that fits.
func (w *writer) value(s *naive.Schema) {
	w.space()
	defer w.space()
	if w.oddly() {
		s = pick(w.r, []*naive.Schema{nil, one(naive.String, "path"), one(naive.Number, ""), one(naive.Bool, ""), one(naive.Null, ""),
			list(one(naive.String, "path")), list(nil), object(prop("path", one(naive.String, "path"))), object()})
	}
	if s == nil || len(s.Types) == 0 {
		s = one(pick(w.r, []string{naive.String, naive.Number, naive.Bool, naive.Null}), pick(w.r, []string{"", "path"}))
	}
	switch t := pick(w.r, s.Types); t {
	case naive.String:
		w.text(s)
	case naive.Number:
		w.WriteString(pick(w.r, numbers))
	case "integer":
		w.WriteString(pick(w.r, []string{"0", "1", "5", "1.0", "100", "-1"}))
	case naive.Bool:
		w.WriteString(pick(w.r, []string{"true", "false"}))
	case naive.Null:
		w.WriteString("null")
	case naive.Array:
		if s.Annotation == "argv" {
			w.vector()
			return
		}
		w.WriteByte('[')
		for i := range w.r.IntN(4) {
			if i > 0 {
				w.WriteByte(',')
			}
			w.value(s.Items)
		}
		w.space()
		w.WriteByte(']')
	case naive.Object:
		w.object(s, 3)
	}
}

func (w *writer) text(s *naive.Schema) {
	switch {
	case len(s.Enum) > 0 && w.r.IntN(8) > 0:
		w.quote(pick(w.r, s.Enum).Text)
	case s.Annotation == "path":
		w.quote(pick(w.r, paths))
	case s.Annotation == "command" && w.moves:
		w.quote(pick(w.r, moved))
	case s.Annotation == "command":
		w.quote(pick(w.r, lines))
	case s.Annotation == "patch" && !w.blind:
		w.quote(pick(w.r, patches))
	default:
		w.quote(pick(w.r, texts))
	}
}

// vector writes an argument vector, or something that resembles one.
func (w *writer) vector() {
	var elements []string
	words := pick(w.r, vectors)
	if w.oddly() {
		elements = append(elements, pick(w.r, odd))
	}
	for _, word := range words {
		quoted := &writer{r: w.r, odd: w.odd}
		quoted.quote(word)
		elements = append(elements, quoted.String())
	}
	if len(words) > 0 && (words[0] == "git" || words[0] == "ls") && w.oddly() {
		elements = append(elements, pick(w.r, odd))
	}
	w.WriteByte('[')
	for i, element := range elements {
		if i > 0 {
			w.WriteByte(',')
		}
		w.space()
		w.WriteString(element)
	}
	w.space()
	w.WriteByte(']')
}

// odd are elements of a vector that are no words.
var odd = []string{"1", "null", `["rm"]`, `{"a":"rm"}`, "[]"}

// object writes an object with most of the declared members in random order;
// missing is how many of them, in ten, are left out.
func (w *writer) object(s *naive.Schema, missing int) {
	w.WriteByte('{')
	first := true
	member := func(key string, value *naive.Schema) {
		if !first {
			w.WriteByte(',')
		}
		first = false
		w.space()
		w.quote(key)
		w.space()
		w.WriteByte(':')
		w.value(value)
	}
	for _, i := range w.r.Perm(len(s.Props)) {
		p := s.Props[i]
		if w.r.IntN(10) < missing && !(p.Required && w.r.IntN(10) > 0) {
			continue
		}
		name := p.Name
		if len(p.Aliases) > 0 && w.r.IntN(2) == 0 {
			name = p.Aliases[0]
		}
		member(name, p.Schema)
		if w.oddly() {
			member(pick(w.r, keys), nil)
		}
	}
	if s.Extra != nil {
		for range w.r.IntN(3) {
			member(pick(w.r, []string{"HOME", "PATH", "A", "B"}), s.Extra)
		}
	}
	if w.oddly() && w.oddly() {
		member(pick(w.r, keys), nil)
	}
	w.space()
	w.WriteByte('}')
}

// quote writes a string, some of its characters as escapes.
func (w *writer) quote(s string) {
	w.WriteByte('"')
	for _, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' && (w.odd == 0 || w.r.IntN(20) > 0) {
			w.WriteRune(c)
			continue
		}
		const hex = "0123456789abcdef"
		w.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			w.WriteByte(hex[c>>shift&15])
		}
	}
	w.WriteByte('"')
}

// Document writes arguments for a tool: most are well-formed and near its schema,
// some break it, some are broken text.
func (c *Case) Document(r *rand.Rand) string {
	w := &writer{r: r, odd: pick(r, []int{1, 1, 40, 150}), moves: c.Moves}
	for i := range c.Naive.Layers {
		w.blind = w.blind || c.Naive.Layers[i].Schema == nil
	}
	w.space()
	w.object(c.tool, pick(r, []int{0, 2, 5}))
	w.space()
	text := w.String()
	how := r.IntN(40)
	if (how == 1 || how == 2) && c.commands() {
		how = 0 // the naive evaluator knows the command lines of the vocabulary only
	}
	switch how {
	case 0:
		return text[:r.IntN(len(text)+1)]
	case 1:
		i := place(r, text)
		return text[:i] + string(pick(r, []byte("x\"}]:,0\x00\xff\\"))) + text[i:]
	case 2:
		i := place(r, text)
		return text[:i] + text[i+1:]
	case 3:
		return text + pick(r, []string{"{}", "x", "}", `{"path":".env"}`})
	}
	if !utf8.ValidString(text) {
		panic("the generator wrote invalid text")
	}
	return text
}

// place draws a byte of a document that may be broken. The command lines that the naive
// evaluator only knows as they are stay whole.
func place(r *rand.Rand, text string) int {
	for {
		i := r.IntN(len(text))
		start := 0
		inside := false
		spoils := false
		for at := 0; at < len(text); at++ {
			switch {
			case text[at] == '\\' && inside:
				at++
			case text[at] == '"' && inside:
				if literal, err := strconv.Unquote(text[start : at+1]); err == nil && naive.Listed(literal) {
					spoils = spoils || start-1 <= i && i <= at+1
				}
				inside = false
			case text[at] == '"':
				start, inside = at, true
			}
		}
		if !spoils {
			return i
		}
	}
}

// commands reports whether the tool has a parameter that is a command, or a patch.
func (c *Case) commands() bool {
	texts := []string{c.Definition}
	for _, f := range c.Files {
		texts = append(texts, f.Text)
	}
	text := strings.Join(texts, "")
	return strings.Contains(text, `"command"`) || strings.Contains(text, `"argv"`) || strings.Contains(text, `"patch"`)
}
