package regular_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/regexp/alternating"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// languages are those of generated patterns, some of them combined.
func languages(t *rapid.T, count int) []*regular.Language {
	generated := patterns()
	var out []*regular.Language
	for len(out) < count {
		p, err := regular.Compile(generated.Draw(t, "pattern"))
		if err != nil {
			p, _ = regular.Compile("a|b$")
		}
		l := p.Language()
		switch rapid.IntRange(0, 5).Draw(t, "combination") {
		case 0:
			l = l.Complement()
		case 1:
			if len(out) > 0 {
				l = regular.Intersect(l, out[0])
			}
		case 2:
			if len(out) > 0 {
				l = out[len(out)-1].Minus(l)
			}
		}
		out = append(out, l)
	}
	return out
}

// decision is one change of fates, behind so many bytes.
type decision struct {
	at                 int
	accepted, rejected string
}

// run feeds a text in pieces and returns what was decided where, and the members
// that accept the whole text.
func run(a *regular.Automaton, pieces [][]byte) (decisions []decision, accepts []bool) {
	s := a.Start()
	at := 0
	for _, piece := range pieces {
		for len(piece) > 0 {
			n, changed := a.Feed(&s, piece)
			piece, at = piece[n:], at+n
			if changed {
				decisions = append(decisions, decision{at, fmt.Sprint(a.Accepted(&s)), fmt.Sprint(a.Rejected(&s))})
			}
		}
	}
	for i := range a.Len() {
		accepts = append(accepts, a.Accepts(&s, i))
	}
	return decisions, accepts
}

// cut cuts a text anywhere, inside of code points too.
func cut(t *rapid.T, text []byte) [][]byte {
	var pieces [][]byte
	for len(text) > 0 {
		n := rapid.IntRange(1, len(text)).Draw(t, "piece")
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// Proves I1, I2 for languages: neither how a text is cut nor what the automaton
// knows already changes what is found, nor where it is decided.
func TestAnyCutIsTheSame(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		members := languages(t, rapid.IntRange(1, 4).Draw(t, "members"))
		limits := alternating.Limits{}
		if rapid.Bool().Draw(t, "without all states") {
			limits.Work = -1
		}
		cold, warm := regular.JoinWithin(limits, members...), regular.JoinWithin(limits, members...)
		for range 3 {
			text := []byte(texts().Draw(t, "text"))
			if rapid.IntRange(0, 4).Draw(t, "broken") == 0 && len(text) > 0 {
				text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] ^= 0x80
			}
			wantDecisions, want := run(cold, [][]byte{text})
			decisions, got := run(warm, cut(t, text))
			if !slices.Equal(got, want) || !slices.Equal(decisions, wantDecisions) {
				t.Fatalf("%q: %v %v, in pieces %v %v", text, want, wantDecisions, got, decisions)
			}
		}
	})
}

// Proves D5, K48: whether all states are made, only some are kept, or none can be
// made, each member accepts the same texts.
func TestLimitsChangeNoVerdict(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		members := languages(t, rapid.IntRange(1, 3).Draw(t, "members"))
		all := []*regular.Automaton{
			regular.JoinWithin(alternating.Limits{Work: 1 << 20}, members...),
			regular.JoinWithin(alternating.Limits{Work: -1}, members...),
			regular.JoinWithin(alternating.Limits{Work: -1, Entries: 1}, members...),
			regular.JoinWithin(alternating.Limits{Work: -1, Bound: 1}, members...),
			regular.JoinWithin(alternating.Limits{Work: -1, Bound: 4}, members...),
			regular.JoinWithin(alternating.Limits{Work: -1, Bound: -1}, members...),
		}
		for range 3 {
			text := []byte(texts().Draw(t, "text"))
			if rapid.IntRange(0, 4).Draw(t, "broken") == 0 && len(text) > 0 {
				text = text[:rapid.IntRange(0, len(text)).Draw(t, "length")]
				text = append(text, "\xe2\x82\xf0\x9f\x98"[rapid.IntRange(0, 4).Draw(t, "bytes"):]...)
			}
			_, want := run(all[0], [][]byte{text})
			for i, a := range all[1:] {
				if _, got := run(a, cut(t, text)); !slices.Equal(got, want) {
					t.Fatalf("%q: %v, with limits %d %v", text, want, i+1, got)
				}
			}
		}
	})
}

// Proves that what is decided stays: no text that goes on from there accepts
// where Rejects was said, or the other way round; and a single pattern whose
// states are all known is decided as soon as no continuation changes it.
func TestFatesAreFinal(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		members := languages(t, 2)
		limits := alternating.Limits{Work: rapid.SampledFrom([]int{-1, 0}).Draw(t, "work")}
		a := regular.JoinWithin(limits, members...)
		text := []byte(texts().Draw(t, "text"))
		s := a.Start()
		a.Feed(&s, text)
		for range 4 {
			further := s
			for more := []byte(texts().Draw(t, "more")); len(more) > 0; {
				n, _ := a.Feed(&further, more)
				more = more[n:]
			}
			for i := range members {
				switch a.Fate(&s, i) {
				case automaton.Accepts:
					if !a.Accepts(&further, i) {
						t.Fatal("accepted, and then not")
					}
				case automaton.Rejects:
					if a.Accepts(&further, i) {
						t.Fatal("rejected, and then not")
					}
				}
			}
		}
	})
}

// Proves that bytes that are no UTF-8 are read as U+FFFD each, at the end of a
// text too, whatever the table knows.
func TestBrokenText(t *testing.T) {
	p := compiled(t, `^a\uFFFD{3}$|(?<=x)\uFFFD\uFFFDb`)
	for text, want := range map[string]bool{
		"a\xf0\x9f\x98": true, "a\xf0\x9f": false, "a\xff\xe2\x82": true, "a\xe2\x82\xff": true, "x\xe2\x82b": true, "x\xe2\x82\xac": false, "a\ufffd\ufffd\ufffd": true,
		"a\xed\xa0\x80": true, "a\xc0\x80\xff": true,
	} {
		for _, limits := range []alternating.Limits{{}, {Work: -1}, {Work: -1, Entries: 1}, {Work: -1, Bound: -1}} {
			a := regular.JoinWithin(limits, p.Language())
			if _, got := run(a, [][]byte{[]byte(text)}); got[0] != want {
				t.Errorf("%q within %+v: %v", text, limits, got[0])
			}
		}
		if p.Match([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// Proves that the length of a run of lookaheads costs time and no more: each place
// of the text begins an obligation that ends with the text only.
func TestManyObligations(t *testing.T) {
	p := compiled(t, `^(?:(?![^]*x[^]{11}y)[ab]|x)*$`)
	text := strings.Repeat("abbabax", 3000)
	if !p.Match([]byte(text)) || p.Match([]byte(text+"y")) {
		t.Error("wrong")
	}
	if p = compiled(t, `^(?:(?=[^]*(?:a[^]{12}|b[^]{11})x$)[ab])*[ab]{2}x$`); p.Match([]byte(strings.Repeat("ab", 2000) + "x")) {
		t.Error("wrong")
	}
}

// Proves that fates are known behind the code point that determines them.
func TestDecidedEarly(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		at            int // bytes until the fate is known, -1 if only the end tells
		fate          automaton.Fate
	}{
		{`rm`, "arm, and more", 3, automaton.Accepts},
		{`^rm`, "arm", 1, automaton.Rejects},
		{`^git (?:status|log)$`, "git lax", 6, automaton.Rejects},
		{`^git (?:status|log)$`, "git log", -1, automaton.Open},
		{`^git [^]*$`, "git x", 4, automaton.Accepts},
		{`^(?!rm)`, "rmdir", 2, automaton.Rejects},
		{`^(?!rm)`, "rn", 2, automaton.Accepts},
		{`(?<!a)b`, "abcb", 4, automaton.Accepts},
		{`^(?=.*[0-9])[a-z1]*$`, "1a2", 3, automaton.Rejects},
		{`^(?=.*[0-9])[a-z]*$`, "", 0, automaton.Rejects}, // there is no such text
		{`a\bé`, "aé", 3, automaton.Accepts},
		{`a\b`, "ab a.", 5, automaton.Accepts},
		{`^é$`, "è", 2, automaton.Rejects},
		{`^.{3}$`, "abcd", 4, automaton.Rejects},
		{`^[^\u{1F600}]*$`, "ab\U0001F600", 6, automaton.Rejects},
		{`$^|a$b`, "", 0, automaton.Open},
		{`[]`, "", 0, automaton.Rejects},
		{``, "", 0, automaton.Accepts},
	} {
		p := compiled(t, test.pattern)
		a := p.Automaton()
		s := a.Start()
		at := -1
		if a.Decided(&s) {
			at = 0
		} else if n, changed := a.Feed(&s, []byte(test.text)); changed {
			at = n
		}
		if test.text == "" && test.fate == automaton.Open {
			test.at = -1
		}
		if at != test.at || a.Fate(&s, 0) != test.fate {
			t.Errorf("%s on %q: fate %v behind %d bytes, want %v behind %d", test.pattern, test.text, a.Fate(&s, 0), at, test.fate, test.at)
		}
	}
}

// Proves that one automaton serves many texts at the same time.
func TestConcurrentTexts(t *testing.T) {
	a := regular.JoinWithin(alternating.Limits{Work: -1, Entries: 600}, compiled(t, `(?:a|b)*a(?:a|b){6}c`).Language(), compiled(t, `^(?=.*b).*(?<=aa)c`).Language())
	var all sync.WaitGroup
	for seed := range 8 {
		all.Go(func() {
			text := make([]byte, 4000)
			x := uint32(seed + 1)
			for i := range text {
				x = x*1664525 + 1013904223
				text[i] = "aabbc"[(x>>16)%5]
			}
			alone := regular.JoinWithin(alternating.Limits{}, compiled(t, `(?:a|b)*a(?:a|b){6}c`).Language(), compiled(t, `^(?=.*b).*(?<=aa)c`).Language())
			decisions, got := run(a, [][]byte{text})
			wantDecisions, want := run(alone, [][]byte{text})
			if !slices.Equal(got, want) || len(decisions) != len(wantDecisions) {
				t.Errorf("%v %v, want %v %v", got, decisions, want, wantDecisions)
			}
		})
	}
	all.Wait()
}
