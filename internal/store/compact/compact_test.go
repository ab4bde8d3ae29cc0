package compact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

const decision = `{"v":1,"seq":20000,"chain":"3F0A5C11D2E94B7788AB01CDEF","time":"2026-11-28T00:19:12.123456789Z","kind":"decision",` +
	`"id":"01KB4Z7Q3M8R6V0T2X5Y9ABCDE","session":"5b1a7f0e-4a52-4f1e-9d0b-00000000000a","principal":"local","surface":"gateway","dialect":"anthropic",` +
	`"tool":"Read","call_id":"toolu_01A09q90qw90lkasdjl","args_hash":"7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a","args_bytes":60,` +
	`"released_hash":"7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a","status":"allowed","mode":"unattended","layer":"rules",` +
	`"code":"rule_matched","rule":{"file":"stopgate.toml","line":12,"index":0},"pointer":"/file_path","decided_at":58,"facts_at":19999,` +
	`"policy":"3f1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a","path_resolution":"lexical","context":{"root":"/srv/project","home":"/home/u"},` +
	`"enforced":true,"prev":"9c1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a","hash":"aa1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a"}`

// list is a list of names.
type list []string

func (l list) Number(text []byte) (uint64, bool) {
	i := slices.Index(l, string(text))
	return uint64(i), i >= 0
}

func (l list) Text(number uint64) (string, bool) {
	if number >= uint64(len(l)) {
		return "", false
	}
	return l[number], true
}

// few are the id of a policy, that of a rule that an author has named, and texts that no row has as they are.
var few = list{"3f1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a", "no-secrets", `a\b"c\u0041`, strings.Repeat("é", 20)}

// roundTrip fails unless a text is restored, with names and without, and returns its form without.
func roundTrip(t testing.TB, text []byte) []byte {
	t.Helper()
	var small []byte
	for _, names := range []Names{few, nil} {
		small = Append([]byte("before"), text, names)[len("before"):]
		back, err := Expand([]byte("before"), small, names)
		if err != nil || string(back) != "before"+string(text) {
			t.Fatalf("%q comes back as %q, %v", text, back, err)
		}
	}
	return small
}

// The row of an ordinary decision needs less than three tenths of its bytes, most of them those of digests.
func TestDecisionIsSmall(t *testing.T) {
	small := roundTrip(t, []byte(decision))
	if len(small)*10 > len(decision)*3 {
		t.Errorf("%d of %d bytes", len(small), len(decision))
	}
}

// A name takes two bytes, and a text of which a name is missing is damaged.
func TestNames(t *testing.T) {
	text := []byte(strings.Replace(decision, `"rule":{`, `"rule":{"id":"no-secrets",`, 1))
	without, with := roundTrip(t, text), Append(nil, text, few)
	if got := len(without) - len(with); got < 31+9 {
		t.Errorf("two names save %d bytes", got)
	}
	for _, names := range []Names{few[:1], nil, list{few[0], strings.Repeat("x", LongestName+1)}} {
		if back, err := Expand(nil, with, names); err == nil {
			t.Errorf("%v: restored as %s", names, back)
		}
	}
}

// Texts that look like a value with a binary form, and are none, are restored, too.
func TestLookalikes(t *testing.T) {
	for _, text := range []string{
		"", "\x01", "x", `"`, `{"v":1,"seq":`, `{"v":1,"seq":0`, `{"v":1,"seq":007`, `{"v":1,"seq":-5,"at":1.50e3}`, `[0,00,18446744073709551616,9223372036854775808]`,
		`"` + strings.Repeat("a", 64), `"` + strings.Repeat("a", 65) + `"`, `"` + strings.Repeat("A", 64) + `"`, `"` + strings.Repeat("g", 64) + `"`,
		`"81ARZ3NDEKTSV4RRFFQ69G5FAV"`, `"7ZZZZZZZZZZZZZZZZZZZZZZZZZ"`, `"01arz3ndektsv4rrffq69g5fav"`, `"01ARZ3NDEKTSV4RRFFQ69G5FAU"`, `"01ARZ3NDEKTSV4RRFFQ69G5FA"`,
		`"da52ceac898c6fb2187758b4"`, `"da52ceac898c6fb2187758b"`, `"DA52CEAC898C6FB2187758B4"`, `"abcdefgh_-ABCDEFGHIJKLMNOPQRSTUVWXYZ012345A"`, `"abcdefgh_-ABCDEFGHIJKLMNOPQRSTUVWXYZ012345B"`, "\"abcdefgh_-ABCDEFGHIJKLMNOPQRSTUVWXYZ01234\nA\"",
		`"5b1a7f0e-4a52-4f1e-9d0b-00000000000A"`, `"5b1a7f0e-4a52-4f1e-9d0b_00000000000a"`, `"2026-11-28T00:19:12.100Z"`, `"2026-11-28T00:19:12.1Z"`,
		`"2026-02-30T00:19:12Z"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59.999999999Z"`, `"2026-11-28T00:19:60Z"`, `"2026-11-28T00:19:12+00:00"`, `"2026-11-28T00:19:12,5Z"`,
	} {
		roundTrip(t, []byte(text))
	}
	var many strings.Builder
	for i := range 40 { // more digests than are remembered, each of them twice
		sum := sha256.Sum256([]byte{byte(i % 20)})
		fmt.Fprintf(&many, `"%x",`, sum)
	}
	roundTrip(t, []byte(many.String()))
}

// draw returns a text of pieces that matter to the encoder.
func draw(r *rand.Rand) []byte {
	var text []byte
	for range r.IntN(30) {
		switch r.IntN(8) {
		case 0, 1:
			text = append(text, fragments[r.IntN(len(fragments))]...)
		case 2:
			f := fragments[r.IntN(len(fragments))]
			text = append(text, f[:r.IntN(len(f)+1)]...)
		case 3:
			sum := sha256.Sum256([]byte{byte(r.IntN(3))})
			text = append(hex.AppendEncode(append(text, '"'), sum[:r.IntN(33)]), '"')
		case 4:
			text = fmt.Appendf(text, ":%d", r.Uint64()>>r.IntN(64))
		case 5:
			at := r.IntN(len(decision))
			text = append(text, decision[at:min(len(decision), at+r.IntN(80))]...)
		case 6:
			for range r.IntN(40) {
				text = append(text, byte(r.IntN(256)))
			}
		case 7:
			for range r.IntN(30) {
				text = append(text, alphabet[r.IntN(len(alphabet))])
			}
		}
	}
	return text
}

// Every text is restored.
func TestEveryTextIsRestored(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		text := draw(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)))
		names := few
		for range rapid.IntRange(0, 3).Draw(t, "names") { // of parts of the text
			if len(text) > LongestName {
				at := rapid.IntRange(0, len(text)-LongestName).Draw(t, "at")
				names = append(names[:len(names):len(names)], string(text[at:at+rapid.IntRange(ShortestName, LongestName).Draw(t, "size")]))
			}
		}
		for _, names := range []Names{names, nil} {
			back, err := Expand(nil, Append(nil, text, names), names)
			if err != nil || !bytes.Equal(back, text) {
				t.Fatalf("%q comes back as %q, %v", text, back, err)
			}
		}
	})
}

// Damaged bytes are an error or another text, never a panic.
func FuzzExpand(f *testing.F) {
	small := Append(nil, []byte(decision), few)
	f.Add(small)
	for i := range small {
		f.Add(small[:i])
		changed := bytes.Clone(small)
		changed[i] ^= 0x5a
		f.Add(changed)
	}
	f.Fuzz(func(t *testing.T, small []byte) {
		text, err := Expand(nil, small, few)
		if err == nil {
			roundTrip(t, text)
		}
		if len(text) > 64*len(small) {
			t.Errorf("%d bytes of %d", len(text), len(small))
		}
	})
}

// The dictionary is part of the format of the files that were written with it.
func TestDictionaryIsFrozen(t *testing.T) {
	const want = "cbd39063dc284971c4bc38c3abbf463b658e620cbbc7d6b5ef856b1053d9c4f6"
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(fragments[:], "\n")))); got != want {
		t.Errorf("the dictionary of version 1 has changed: %s", got)
	}
	if len(fragments) > short+256 {
		t.Errorf("%d fragments are more than %d", len(fragments), short+256)
	}
	seen := map[string]bool{}
	for _, f := range fragments {
		if len(f) < shortest || seen[f] {
			t.Errorf("%q is too short or listed twice", f)
		}
		seen[f] = true
	}
}

func BenchmarkAppend(b *testing.B) {
	var small []byte
	for b.Loop() {
		small = Append(small[:0], []byte(decision), few[:1])
	}
	b.ReportMetric(float64(len(small)), "B")
}

func BenchmarkExpand(b *testing.B) {
	small, text := Append(nil, []byte(decision), few[:1]), []byte(nil)
	for b.Loop() {
		text, _ = Expand(text[:0], small, few[:1])
	}
}
