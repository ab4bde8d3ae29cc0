package occur

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/testkit/naiveflow"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// spellings has values of every kind, each in several spellings and with others that resemble it.
var spellings = map[flow.Kind][]string{
	flow.Text:   {"blue shirt", "Blue Shirt", "blue, shirt", "blue-shirt", "rm -rf", "rm rf", "straße", "STRASSE", "it’s", "it's", "北京", "北京大学", "x__y", "x_y", "(a)", "a", "blue", "пример", "ПРИМЕР"},
	flow.ID:     {"INV-291", "inv-291", "INV-291x", "291", "owner/repo", "repo", "a_b", "#general", "Main Street 5", "o'brien", "brien", "*bold*", "bold", "x:y", "x.", "x"},
	flow.Email:  {"bob@example.com", "Bob@Example.com", "Bob <bob@example.com>", "mailto:bob@example.com", "notbob@example.com", "bob@example.com.evil.org", "o'bob@example.com", "bob+x@example.com", "bob@bücher.de", "bob@xn--bcher-kva.de", "bob@localhost", "bоb@example.com", "x@y@z.de"},
	flow.URL:    {"https://example.com/a", "https://Example.com:443/a", "http://example.com/a", "example.com/a", "www.example.com/a", "https://www.example.com/a", "https://example.com", "https://example.com/", "example.com", "https://example.com@evil.org/a", `https://example.com\@evil.org`, "https://example.com/a?x=https://evil.org/b", "https://evil.org/b", "https://example.com/%7ea", "https://example.com/~a", "https://example.com:8443/a", "https://x.org/a(b)", "https://bücher.de/ü", "https://xn--bcher-kva.de/%C3%BC"},
	flow.Host:   {"example.com", "www.example.com", "Example.COM", "example.com.evil.org", "api.example.com", "https://example.com/x", "example.com:8443", "bücher.de", "xn--bcher-kva.de", "192.168.0.1", "192.168.0.01", "README.md", "a.b"},
	flow.Path:   {"docs/a.md", "./docs/a.md", "docs//a.md", "docs/a", "/docs/a.md", "docs/../a.md", `docs\a.md`, "~/notes", "a.md", "a.md:12", "@docs/a.md", "docs/", "docs", "docs/My File"},
	flow.Number: {"1200", "1,200", "1.200", "1200.50", "1,200.5", "1.200,50", "-1200", "١٢٠٠", "01200", "1200000", "1,200,000", "1 200", "1e3", "1.2e3", "12e2", "12,00"},
	flow.Money:  {"EUR 1200", "€1,200", "1200 EUR", "1.200,00 €", "$1200", "USD 1200", "1200", "1200 euros", "12,50 €", "EUR 12.5", "CHF -5"},
	flow.Date:   {"2025-05-03", "2025/05/03", "3 May 2025", "May 3, 2025", "3.5.2025", "03.05.2025", "2025-05-03T10:00", "05/03/2025", "2025-13-03", "31 April 2025", "Jan 2, 2025"},
	flow.Phone:  {"+491701234567", "+49 170 1234567", "+49 (170) 123-4567", "01701234567", "0170 1234567", "1234567", "1701234567"},
	flow.IBAN:   {"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "de89370400440532013000", "DE8937040044053201300099", "US133000000121212121212", "DE89"},
}

var joints = []string{" ", " ", " ", " ", "\n", ",", ", ", ".", ". ", "/", "-", "@", ":", ": ", "\"", "\" \"", "(", ")", "", "'", "*", "=", "?", "! ", "<", "> ", "_", "%", "\u200b", "\t", "　", ";", "#", "&"}

var fillers = []string{"pay", "see", "the", "order", "pay the", "x9", "7", "A1", "a.b", "EUR", "№", "ﬁn"}

// draw returns a text of a few values and words.
func draw(r *rand.Rand, kind flow.Kind) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		switch list := spellings[kind]; r.IntN(5) {
		case 0:
			b.WriteString(fillers[r.IntN(len(fillers))])
		case 1:
			other := spellings[flow.Kind(r.IntN(len(spellings)))]
			b.WriteString(other[r.IntN(len(other))])
		default:
			b.WriteString(list[r.IntN(len(list))])
		}
		b.WriteString(joints[r.IntN(len(joints))])
	}
	return b.String()
}

// The second opinion: a value occurs plainly where a quadratic search finds it, and nowhere else.
func TestAgreesWithNaiveSearch(t *testing.T) {
	yes, no := 0, 0
	for seed := range property.Cases(10_000, 100_000, 1_000_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		kind := flow.Kind(r.IntN(len(spellings)))
		text := draw(r, kind)
		value := spellings[kind][r.IntN(len(spellings[kind]))]
		if r.IntN(8) == 0 {
			value = strings.TrimSpace(draw(r, kind))
		}
		certain, possible := find(value, text, flow.Query{Kind: kind, Weak: true})
		switch want := naiveflow.Occurs(kind, value, text); {
		case certain && want == naiveflow.No:
			t.Errorf("seed %d: %s %q occurs in %q, and the search does not find it", seed, kind, value, text)
		case !certain && want == naiveflow.Yes:
			t.Errorf("seed %d: %s %q does not occur in %q, and the search finds it", seed, kind, value, text)
		case certain && !possible:
			t.Errorf("seed %d: %s %q in %q is certain and not possible", seed, kind, value, text)
		case certain:
			yes++
		default:
			no++
		}
		if t.Failed() && seed > 100_000 {
			break
		}
	}
	if yes < no/20 {
		t.Errorf("%d of %d values occur: the cases test little", yes, yes+no)
	}
}
