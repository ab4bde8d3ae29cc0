package occur

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
)

// prose is 1 MiB of text as people write it, and records is one of short sentences with an address,
// an amount or a date each.
func prose() []byte {
	const page = `It was late in the afternoon when the two of them came back from the harbour, and nobody had thought of lighting the
fire. The letter was still on the table, unopened, between the bread and the lamp. She read it twice before she said anything, and
then only that Mr. Baker (of 12 Mill Lane) would arrive on Monday; "we had better be ready", she added, and went to the kitchen.
Please write to anna@example.com or look at https://example.com/news if you want to know how the story goes on.
`
	return bytes.Repeat([]byte(page), 1<<20/len(page)+1)[:1<<20]
}

func records() []byte {
	const page = `Hello Anna, please send the invoice of EUR 1,200.50 to billing@example.com before 3 May 2025. The order
is at https://shop.example.com/orders/INV-2291?lang=en (see also docs/readme.md). It's the second reminder; the first one was
sent on Monday, when nobody answered. We would like to know whether the delivery has arrived, and if all parts were in the box.
`
	return bytes.Repeat([]byte(page), 1<<20/len(page)+1)[:1<<20]
}

// code is 1 MiB of the source files of this repository.
func code(tb testing.TB) []byte {
	var out []byte
	for len(out) < 1<<20 {
		files, _ := filepath.Glob("../../*/*.go")
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			out = append(out, text...)
		}
	}
	return out[:1<<20]
}

func BenchmarkScan(b *testing.B) {
	for name, text := range map[string][]byte{
		"prose":   prose(),
		"records": records(),
		"code":    code(b),
		"russian": []byte(strings.Repeat("Пожалуйста, отправьте счёт на адрес бухгалтерии до пятницы. ", 1<<20/110)),
		"chinese": []byte(strings.Repeat("请在星期五之前把发票发送到会计部门，谢谢。", 1<<20/63)),
		"json":    bytes.Repeat([]byte(`{"id":"a81f","name":"Anna Smith","mail":"anna@example.com","amount":1200.5,"tags":["x","y"]},`), 1<<20/96),
		"base64":  bytes.Repeat([]byte("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg"), 1<<20/100),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = 0
				Scan(text, func(Token) { n++ })
			}
			b.ReportMetric(float64(n), "tokens/op")
		})
	}
}

func BenchmarkValue(b *testing.B) {
	for name, test := range map[string]struct {
		value string
		kind  flow.Kind
	}{
		"email": {"billing@example.com", flow.Email},
		"url":   {"https://shop.example.com/orders/INV-2291?lang=en", flow.URL},
		"text":  {"the second reminder", flow.Text},
		"path":  {"docs/reference/readme.md", flow.Path},
		"money": {"EUR 1,200.50", flow.Money},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			q := flow.Query{Kind: test.kind}
			for b.Loop() {
				Value([]byte(test.value), &q)
			}
		})
	}
}

// Texts that make a scanner slow if anything in it is not linear: 1 MiB takes less than a second.
func BenchmarkHostile(b *testing.B) {
	for name, unit := range map[string]string{
		"at": "a@", "urls": "https://", "bad urls": "https://a@ ", "redirects": "=https://x.co|", "digits": "1 ", "groups": "100 ", "escapes": `\u0041`, "percent": "%2541",
		"dates": "5 May ", "accounts": "DE89 3704 0044 0532 0130 ", "invisible": "\u200b", "accents": "\u0300", "dots": "a.b.c.d ", "base64": "bWFsbG9yeUBldmlsLmV4YW1wbGU= ",
	} {
		text := bytes.Repeat([]byte(unit), 1<<20/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Scan(text, func(Token) {})
			}
		})
	}
}

func BenchmarkVisible(b *testing.B) {
	text := bytes.Repeat([]byte(`<tr class="row"><td><a href="https://example.com/a">one</a></td><td hidden>two</td><td>three &amp; four</td></tr>`), 1<<20/110)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Visible(text)
	}
}

func BenchmarkSecrets(b *testing.B) {
	text := prose()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Secrets(text, func([]byte) {})
	}
}
