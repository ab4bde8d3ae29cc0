package cidr_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/prove/inclusion"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// failer is what *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func compile(t failer, url, restrictive bool, networks ...string) *match.Matcher {
	t.Helper()
	target := condition.Target{Type: schema.String}
	if url {
		target.Annotation = schema.URL
	}
	m, err := match.Compile(spec(networks...), target, restrictive, condition.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func spec(networks ...string) condition.Spec {
	s := kinds.Table().Spec("cidr")
	for _, n := range networks {
		s.Values = append(s.Values, condition.Literal{Kind: condition.LiteralString, Text: n})
	}
	return s
}

// stream evaluates a string code point by code point, where the condition can, and returns the
// number of bytes after which it was decided.
func stream(m *match.Matcher, text string) (hit bool, at int) {
	var s condition.State
	if !m.Incremental() {
		return m.Match([]byte(text)), len(text)
	}
	result := m.Start(&s)
	for i, r := range text {
		if result != condition.Undecided {
			return result == condition.Hit, i
		}
		result, _ = m.Feed(&s, []byte(string(r)))
	}
	if result == condition.Undecided {
		result = m.End(&s)
	}
	return result == condition.Hit, len(text)
}

// A permissive condition holds for an address in its usual notation, a restrictive one for every
// text that some program could read as an address in the network.
func TestStrings(t *testing.T) {
	for _, c := range []struct {
		networks     string
		value        string
		grant, catch bool
	}{
		{"10.0.0.0/8", "10.1.2.3", true, true},
		{"10.0.0.0/8", "10.1.2.3:443", true, true},
		{"10.0.0.0/8", "10.1.2.3:0", false, true},
		{"10.0.0.0/8", "10.1.2.3:65536", false, true},
		{"10.0.0.0/8", "11.1.2.3", false, false},
		{"10.0.0.0/8", "110.1.2.3", false, false},
		{"10.0.0.0/8", "10.1.2", false, true},
		{"10.0.0.0/8", "10.1.2.3.4", false, false},
		{"10.0.0.0/8", "10.1.2.256", false, false},
		{"10.0.0.0/8", "010.1.2.3", false, false}, // octal: 8.1.2.3
		{"8.0.0.0/8", "010.1.2.3", false, true},
		{"10.0.0.0/8", "012.1.2.3", false, true},
		{"10.0.0.0/8", "0x0a010203", false, true},
		{"127.0.0.0/8", "2130706433", false, true},
		{"127.0.0.0/8", "0x7f.1", false, true},
		{"127.0.0.0/8", "127.1", false, true},
		{"127.0.0.0/8", " 127.0.0.1\n", false, true},
		{"127.0.0.0/8", "127.0.0.1.", false, true},
		{"127.0.0.0/8", "127.0.0.%31", false, true},
		{"127.0.0.0/8", "\u2460\u2461\u2466.0.0.1", false, true}, // circled digits
		{"127.0.0.0/8", "\uff11\uff12\uff17\uff0e0.0.1", false, true},
		{"127.0.0.0/8", "127\u30020\u30020\u30021", false, true},
		{"127.0.0.0/8", "127.0.0.\u200b1", false, true},
		{"127.0.0.0/8", "localhost", false, true},
		{"127.0.0.0/8", "LOCALHOST:80", false, true},
		{"127.0.0.0/8", "api.localhost", false, true},
		{"::1/128", "localhost", false, true},
		{"127.0.0.0/8", "localhost.example.com", false, false},
		{"127.0.0.0/8", "http://127.0.0.1/x", false, true},
		{"127.0.0.0/8", "http://user@127.0.0.1:80/", false, true},
		{"127.0.0.0/8", "http://127.0.0.1@example.com/", false, true},
		{"127.0.0.0/8", "example.com", false, false},
		{"127.0.0.0/8", "", false, false},
		{"fd00::/8", "fd00::1", true, true},
		{"fd00::/8", "Fd12:3456::0001", true, true},
		{"fd00::/8", "[fd00::1]", true, true},
		{"fd00::/8", "[fd00::1]:80", true, true},
		{"fd00::/8", "[fd00::1", false, true},
		{"fd00::/8", "fd00::1%eth0", false, true},
		{"fd00::/8", "[fd00::1%25eth0]:80", false, true},
		{"fd00::/8", "fd00:1:2:3:4:5:6:7", true, true},
		{"fd00::/8", "fd00:1:2:3:4:5:6::", true, true},
		{"fd00::/8", "fd00:1:2:3:4:5:6:7:8", false, true}, // with a port
		{"fd00::/8", "fd00:::1", false, true},
		{"fd00::/8", "fe00::1", false, false},
		{"fd00::/8", "fd::1", false, false},
		{"fd00::/8", "fd00::1.2.3.4", false, true},
		{"::1/128", "::1", true, true},
		{"::1/128", "0:0:0:0:0:0:0:1", true, true},
		{"::1/128", "::2", false, false},
		{"::/127", "::", true, true},
		{"fe80::/10", "febf::1", true, true},
		{"fe80::/10", "fec0::1", false, false},
		{"10.0.0.0/8", "::ffff:10.1.2.3", false, true},
		{"10.0.0.0/8", "[::ffff:a01:203]:80", false, true},
		{"10.0.0.0/8", "::10.1.2.3", false, true},
		{"10.0.0.0/8", "64:ff9b::a01:203", false, true},
		{"10.0.0.0/8", "2002:a01:203::1", false, true},
		{"64:ff9b::/96", "64:ff9b::a01:203", false, true},
		{"10.0.0.0/8 fd00::/8", "fd00::1", true, true},
		{"10.0.0.0/8 fd00::/8", "10.0.0.1", true, true},
		{"0.0.0.0/0", "255.255.255.255", true, true},
		{"1.2.3.4/32", "1.2.3.4", true, true},
		{"1.2.3.4/32", "1.2.3.40", false, false},
		{"::/0", "2001:db8::1", true, true},
		{"::/0", "::ffff:a00:1", false, true},
	} {
		networks := strings.Fields(c.networks)
		may, must := compile(t, false, false, networks...), compile(t, false, true, networks...)
		if got, _ := stream(may, c.value); got != c.grant || may.Match([]byte(c.value)) != got {
			t.Errorf("%s permissive on %q: %v, want %v", c.networks, c.value, got, c.grant)
		}
		if got := must.Match([]byte(c.value)); got != c.catch {
			t.Errorf("%s restrictive on %q: %v, want %v", c.networks, c.value, got, c.catch)
		}
	}
}

func TestURLs(t *testing.T) {
	for _, c := range []struct {
		networks     string
		value        string
		grant, catch bool
	}{
		{"10.0.0.0/8", "http://10.1.2.3/", true, true},
		{"10.0.0.0/8", "https://10.1.2.3:8443/a?b=c#d", true, true},
		{"10.0.0.0/8", "http://11.1.2.3/", false, false},
		{"10.0.0.0/8", "http://example.com/10.1.2.3", false, false},
		{"10.0.0.0/8", "10.1.2.3", false, true},
		{"10.0.0.0/8", "//10.1.2.3/x", false, true},
		{"10.0.0.0/8", `http:\\10.1.2.3\x`, false, true},
		{"127.0.0.0/8", "http://2130706433/", false, true},
		{"127.0.0.0/8", "http://0177.0.0.1/", false, true},
		{"127.0.0.0/8", "http://0x7f.1/", false, true},
		{"127.0.0.0/8", "http://%31%32%37.0.0.1/", false, true},
		{"127.0.0.0/8", "http://localhost:3000/", false, true},
		{"127.0.0.0/8", "http://a@127.0.0.1/", false, true},
		{"127.0.0.0/8", "http://example.com#@127.0.0.1/", false, true},
		{"127.0.0.0/8", "view-source:http://127.0.0.1/", false, true},
		{"fd00::/8", "http://[fd00::1]/", true, true},
		{"fd00::/8", "http://[Fd00::1]/", false, true},
		{"fd00::/8", "http://[fd00::1%25eth0]/", false, true},
		{"10.0.0.0/8", "http://[::ffff:10.1.2.3]/", false, true},
		{"169.254.0.0/16", "http://169.254.169.254/latest/meta-data/", true, true},
		{"169.254.0.0/16", "http://[::ffff:a9fe:a9fe]/", false, true},
		{"169.254.0.0/16", "http://2852039166/", false, true},
	} {
		may, must := compile(t, true, false, c.networks), compile(t, true, true, c.networks)
		if got := may.Match([]byte(c.value)); got != c.grant {
			t.Errorf("%s permissive on %q: %v, want %v", c.networks, c.value, got, c.grant)
		}
		if got := must.Match([]byte(c.value)); got != c.catch {
			t.Errorf("%s restrictive on %q: %v, want %v", c.networks, c.value, got, c.catch)
		}
	}
}

// A string is decided at the first code point after which no address in the network can follow.
func TestDecidesEarly(t *testing.T) {
	for _, c := range []struct {
		network, value string
		at             int
	}{
		{"10.0.0.0/8", "192.168.0.1", 2}, {"10.0.0.0/8", "10.300.1.1", 6}, {"fd00::/8", "fe80::1", 2}, {"fd00::/8", "example.com", 1},
		{"10.1.0.0/16", "10.12.0.1", 5}, {"10.0.0.0/8", "10.0.0.1 ", 9},
	} {
		if hit, at := stream(compile(t, false, false, c.network), c.value); hit || at != c.at {
			t.Errorf("%s on %q: %v after %d, want after %d", c.network, c.value, hit, at, c.at)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ network, message, hint string }{
		{"10.1.2.3/8", "does not begin with the first address of the network", "`10.0.0.0/8`"},
		{"10.1.2.3", "is an address, not a network", "`10.1.2.3/32`"},
		{"fd00::1", "is an address, not a network", "`fd00::1/128`"},
		{"10.0.0.0/33", "is not a network in CIDR notation", "`10.0.0.0/8` or `fd00::/8`"},
		{"fe80::%eth0/64", "is not a network in CIDR notation", "`10.0.0.0/8` or `fd00::/8`"},
		{"::ffff:10.0.0.0/104", "is an IPv4 network in IPv6 notation", "write the IPv4 network: restrictive rules also find it in IPv6 addresses"},
		{"", "is not a network in CIDR notation", "`10.0.0.0/8` or `fd00::/8`"},
	} {
		_, err := match.Compile(spec("10.0.0.0/8", c.network), condition.Target{Type: schema.String}, true, condition.Env{})
		bad, ok := err.(*condition.SpecError)
		if !ok || bad.Index != 1 || bad.Message != c.message || bad.Hint != c.hint {
			t.Errorf("%q: %+v", c.network, err)
		}
	}
	for _, a := range []schema.Annotation{schema.Path, schema.Command, schema.Patch} {
		if err := match.Check(spec("10.0.0.0/8"), condition.Target{Type: schema.String, Annotation: a}, true, &condition.Env{}); err == nil {
			t.Errorf("it fits a %v", a)
		}
	}
}

// Rules are proved unreachable by the networks of the rules above.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		earlier, later string
		want           regular.Answer
	}{
		{"10.0.0.0/8", "10.1.0.0/16", regular.Yes}, {"10.1.0.0/16", "10.0.0.0/8", regular.No}, {"fd00::/8", "fd12::/16", regular.Yes},
		{"10.0.0.0/9 10.128.0.0/9", "10.0.0.0/8", regular.Yes}, {"10.0.0.0/8", "fd00::/8", regular.No},
	} {
		for _, url := range []bool{false, true} {
			earlier, later := compile(t, url, true, strings.Fields(c.earlier)...), compile(t, url, false, c.later)
			if got := inclusion.Covers(earlier, later); got != c.want {
				t.Errorf("%s covers %s: %v, want %v", c.earlier, c.later, got, c.want)
			}
		}
	}
}

// For addresses as netip writes them the condition is membership in the network; for every text a
// restrictive condition holds whenever a permissive one does, and streaming changes nothing.
func TestAgreesWithNetip(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		v6 := rapid.Bool().Draw(t, "v6")
		address := func() netip.Addr {
			if !v6 {
				return netip.AddrFrom4([4]byte{byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(3)), byte(r.IntN(256))})
			}
			var b [16]byte
			for i := range b {
				if r.IntN(3) == 0 {
					b[i] = byte(r.IntN(256))
				}
			}
			b[0] = 0xfd
			return netip.AddrFrom16(b)
		}
		a := address()
		network := netip.PrefixFrom(a, r.IntN(a.BitLen()+1)).Masked()
		if v6 && network.Bits() < 8 {
			return // contains addresses that embed others
		}
		if r.IntN(2) == 0 {
			a = address()
		}
		may, must := compile(t, false, false, network.String()), compile(t, false, true, network.String())
		for _, text := range []string{a.String(), a.StringExpanded(), netip.AddrPortFrom(a, uint16(1+r.IntN(65535))).String(), mangled(r, a.String())} {
			hit, _ := stream(may, text)
			parsed, err := netip.ParseAddr(text)
			if port, also := netip.ParseAddrPort(text); err != nil && also == nil {
				parsed, err = port.Addr(), nil
			}
			if want := err == nil && network.Contains(parsed); hit != want && !strings.Contains(text, "::ffff:") && !(strings.Count(text, ":") > 1 && strings.Contains(text, ".")) && !oddPort(text) {
				t.Fatalf("%v on %q: %v, want %v", network, text, hit, want)
			}
			if hit != may.Match([]byte(text)) {
				t.Fatalf("%v on %q: streaming says %v", network, text, hit)
			}
			if hit && !must.Match([]byte(text)) {
				t.Fatalf("%v on %q: certain, and not suspicious", network, text)
			}
		}
	})
}

// oddPort reports a port that netip accepts and the condition does not take for certain.
func oddPort(text string) bool {
	port := text[strings.LastIndexByte(text, ':')+1:]
	return port == "" || port[0] == '0'
}

// mangled changes one character of a text.
func mangled(r *rand.Rand, text string) string {
	at := r.IntN(len(text))
	return text[:at] + string("0123456789abcdefABCDEF:.%[] x"[r.IntN(29)]) + text[at+r.IntN(2):]
}
