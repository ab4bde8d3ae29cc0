package index_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
)

// writer makes texts as agents read them: words of a language by Zipf's law, names, addresses,
// numbers, ids.
type writer struct {
	*rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newWriter(seed uint64) *writer {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 1))}
	syllables := strings.Fields("a an be con de er fi ga ho in ja ke la ment ne or pre qua ra st tion un ver wa ex y zu th sh ly ing ed")
	seen := map[string]bool{}
	for len(w.words) < 20000 {
		word := ""
		for range 1 + w.IntN(2) + w.IntN(3) {
			word += syllables[w.IntN(len(syllables))]
		}
		if !seen[word] {
			seen[word] = true
			w.words = append(w.words, word)
		}
	}
	w.zipf = rand.NewZipf(w.Rand, 1.1, 6, uint64(len(w.words)-1))
	return w
}

func (w *writer) word() string { return w.words[w.zipf.Uint64()] }

func (w *writer) name() string {
	s := w.word()
	return strings.ToUpper(s[:1]) + s[1:]
}

func (w *writer) email() string { return w.word() + "." + w.word() + "@" + w.word() + ".example.com" }

// prose is a page or a mail.
func (w *writer) prose(length int) string {
	var b strings.Builder
	for b.Len() < length {
		b.WriteString(w.name())
		for range 4 + w.IntN(12) {
			b.WriteByte(' ')
			switch w.IntN(60) {
			case 0:
				b.WriteString(w.email())
			case 1:
				fmt.Fprintf(&b, "%d.%02d", w.IntN(5000), w.IntN(100))
			case 2:
				fmt.Fprintf(&b, "2026-%02d-%02d", 1+w.IntN(12), 1+w.IntN(28))
			case 3:
				fmt.Fprintf(&b, "https://%s.example.org/%s/%s?id=%d", w.word(), w.word(), w.word(), w.IntN(1e6))
			case 4, 5:
				b.WriteString(w.name())
			case 6:
				b.WriteString(w.word() + ",")
			default:
				b.WriteString(w.word())
			}
		}
		b.WriteString(".")
		if w.IntN(4) == 0 {
			b.WriteString("\n\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// listing is the output of a program: a line for each file or record.
func (w *writer) listing(length int) string {
	var b strings.Builder
	for b.Len() < length {
		fmt.Fprintf(&b, "-rw-r--r-- 1 %s staff %6d Nov %2d %02d:%02d src/%s/%s_%s.go\n", w.word(), w.IntN(1e5), 1+w.IntN(28), w.IntN(24), w.IntN(60), w.word(), w.word(), w.word())
	}
	return b.String()
}

// source is a program.
func (w *writer) source(length int) string {
	var b strings.Builder
	for b.Len() < length {
		fmt.Fprintf(&b, "// %s %s the %s of a %s.\nfunc (x *%s) %s(%s int, %s string) error {\n\tif %s > %d {\n\t\treturn x.%s(%s, %q)\n\t}\n\treturn nil\n}\n\n",
			w.name(), w.word(), w.word(), w.word(), w.word(), w.name(), w.word(), w.word(), w.word(), w.IntN(100), w.word(), w.word(), w.word()+" "+w.word())
	}
	return b.String()
}

// records are the leaves of a list of objects, and the length of its JSON.
func (w *writer) records(length int) (texts []index.Text, size int) {
	for i := 0; size < length; i++ {
		for _, leaf := range [][2]string{
			{"id", fmt.Sprint(100000 + w.IntN(900000))}, {"name", w.name() + " " + w.name()}, {"email", w.email()}, {"status", w.word()},
			{"created_at", fmt.Sprintf("2026-%02d-%02dT%02d:00:00Z", 1+w.IntN(12), 1+w.IntN(28), w.IntN(24))}, {"summary", strings.TrimSpace(w.prose(120))},
		} {
			texts = append(texts, index.Text{Ref: flow.Ref{Tool: "list", Pointer: fmt.Sprintf("/%d/%s", i, leaf[0])}, Text: []byte(leaf[1]), Sources: []flow.Source{flow.Tool}})
			size += len(leaf[0]) + len(leaf[1]) + 6
		}
	}
	return texts, size
}

// conversation is batches with about this much text, and its length as the model receives it.
func (w *writer) conversation(length, batches int) (out []*index.Batch, size int) {
	out = append(out, &index.Batch{Key: []byte("0"), Know: everything, Person: true, Texts: []index.Text{text("Please pay the bill of Ann Lee, ann.lee@shop.example, at https://shop.example/pay/1.", flow.User)}})
	for i := 1; size < length; i++ {
		b := &index.Batch{Key: []byte(fmt.Sprint(i)), Result: true, Tool: "read"}
		n := length / batches
		var s string
		switch i % 4 {
		case 0:
			texts, n := w.records(n)
			b.Texts, size = texts, size+n
			out = append(out, b)
			continue
		case 1:
			s = w.listing(n)
		case 2:
			s = w.source(n)
		default:
			s = w.prose(n)
		}
		b.Texts = []index.Text{{Ref: flow.Ref{Tool: "read", Call: "call_1"}, Text: []byte(s), Sources: []flow.Source{flow.Tool}}}
		size += len(s)
		out = append(out, b)
	}
	return out, size
}
