package source

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/flow/index"
)

// The fast readings of texts agree with plain ones.
func TestFastReadingsOfTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	units := []string{" ", "  ", "\t", "\n", "\r\n", "\v", ">", "|", "a", "Zz", "word", "ÄÖ", "ß", "\u00a0", "\u2003", "İ", "K", "\xff", "\xe2\x80", `"`, `":`, "':", ":", "/", `\`, "~", ".", ",", "(", "@", "[", "`", "{"}
	for range 30_000 {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteString(units[rng.IntN(len(units))])
		}
		text := []byte(b.String())
		if got, want := appendLine([]byte("x "), text), plainLine("x ", text); !bytes.Equal(got, want) {
			t.Fatalf("line of %q: got %q, want %q", text, got, want)
		}
		if got, want := appendLower([]byte("X"), text), append([]byte("X"), bytes.ToLower(text)...); !bytes.Equal(got, want) {
			t.Fatalf("%q in lower case: got %q, want %q", text, got, want)
		}
		if got, want := asciiLower(text), plainLower(text); !bytes.Equal(got, want) {
			t.Fatalf("%q in lower case of ASCII: got %q, want %q", text, got, want)
		}
		if got, want := recognisable(text), plainRecognisable(text); got != want {
			t.Fatalf("%q is recognisable: got %t, want %t", text, got, want)
		}
		if got, want := argumentMarks(text), plainArgument(text); !slices.Equal(got, want) {
			t.Fatalf("marks of %q: got %x, want %x", text, got, want)
		}
		for _, long := range [][]byte{text, append(bytes.Repeat([]byte(" "), 4097), text...)} {
			var got []string
			paths(long, func(p string) { got = append(got, p) })
			if want := plainPaths(long); !slices.Equal(got, want) {
				t.Fatalf("paths in %q: got %q, want %q", text, got, want)
			}
		}
	}
	// Every byte and its neighbours.
	for c := range 256 {
		text := bytes.Repeat([]byte{byte(c)}, 9)
		if got, want := asciiLower(text), plainLower(text); !bytes.Equal(got, want) {
			t.Errorf("%q in lower case of ASCII: got %q, want %q", text, got, want)
		}
	}
}

var empty = index.New(nil, index.Options{})

// argumentMarks returns the sorted marks of an argument.
func argumentMarks(text []byte) (keys []string) {
	w := writing{index: empty}
	w.argument(text)
	for _, key := range w.marks.list {
		keys = append(keys, string(key))
	}
	slices.Sort(keys)
	return keys
}

func plainArgument(text []byte) (keys []string) {
	if all := plainLine("", text); len(all) >= minArgument {
		keys = append(keys, string(mark(markArgument, all)))
	}
	for l := range bytes.Lines(text) {
		if l = plainLine("", l); plainRecognisable(l) {
			keys = append(keys, string(mark(markArgumentLine, l)))
		}
	}
	slices.Sort(keys)
	return keys
}

func plainLine(before string, text []byte) []byte {
	words := bytes.Fields(bytes.TrimLeft(text, "> \t|"))
	return append([]byte(before), bytes.Join(words, []byte(" "))...)
}

func plainLower(text []byte) []byte {
	out := bytes.Clone(text)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

func plainRecognisable(l []byte) bool {
	if len(l) >= minMember && (bytes.Contains(l, []byte(`":`)) || bytes.Contains(l, []byte(`':`))) {
		return true
	}
	return len(l) >= minLine && bytes.Count(l, []byte(" ")) >= minLineWords-1
}

func plainPaths(text []byte) (all []string) {
	marks := `/\~`
	if len(text) <= 4096 {
		marks += "."
	}
	for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`;|&<>()[]{}=,", r) }) {
		if !strings.ContainsAny(word, marks) {
			continue
		}
		p := path.Clean(strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(word), "file://"), `\`, "/"))
		if strings.Trim(p, "./") != "" || p == "/" || p == "." {
			all = append(all, p)
		}
	}
	return all
}

// The key of a mark is the hash of its kind and of its parts with their lengths, also of a long one and
// of one in a list.
func TestMarks(t *testing.T) {
	var m marks
	var want [][]byte
	for n := range 2 * shortMark {
		part := bytes.Repeat([]byte("x"), n)
		sum := sha256.Sum256(slices.Concat([]byte{markMember, 0, 0, 0, 0, 0, 0, 0, 1, 'y', 0, 0, 0, 0, 0, 0, byte(n >> 8), byte(n)}, part))
		want = append(want, sum[:])
		m.add(markMember, []byte("y"), part)
	}
	for i := range want {
		if !bytes.Equal(m.list[i], want[i]) {
			t.Fatalf("the mark of %d bytes is %x, want %x", i, m.list[i], want[i])
		}
	}
}
