package ucd_test

import (
	"slices"
	"testing"
	"unicode"

	"github.com/stopgate/stopgate/internal/regexp/ucd"
)

func points(t *testing.T, name string) map[rune]bool {
	t.Helper()
	ranges, ok := ucd.Property(name)
	if !ok {
		t.Fatalf("no property %s", name)
	}
	found, last := map[rune]bool{}, rune(-1)
	for low, high := range ranges {
		if low <= last || high < low || high > unicode.MaxRune {
			t.Fatalf("%s: %U-%U behind %U", name, low, high, last)
		}
		for r := low; r <= high; r++ {
			found[r] = true
		}
		last = high
	}
	return found
}

// The tables agree with those of the standard library on every code point that its
// version of Unicode has assigned and whose property no later version changed.
func TestProperty(t *testing.T) {
	if unicode.Version != "15.0.0" {
		t.Log("the standard library has Unicode " + unicode.Version)
	}
	unassigned := unicode.Categories["Cn"]
	check := func(name string, theirs *unicode.RangeTable, changed ...rune) {
		t.Helper()
		ours := points(t, name)
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if !unicode.Is(unassigned, r) && ours[r] != unicode.Is(theirs, r) && !slices.Contains(changed, r) {
				t.Errorf("%s: %U is %v", name, r, ours[r])
			}
		}
	}
	check("gc=Uppercase_Letter", unicode.Lu)
	check("gc=Decimal_Number", unicode.Nd)
	check("gc=Space_Separator", unicode.Zs)
	check("gc=Surrogate", unicode.Cs)
	check("sc=Greek", unicode.Greek)
	check("sc=Han", unicode.Han)
	check("White_Space", unicode.White_Space)
	check("Hex_Digit", unicode.Hex_Digit)

	if emoji := points(t, "Emoji"); !emoji['😀'] || !emoji['1'] || emoji['a'] {
		t.Error("Emoji")
	}
	// U+0342 is used in Greek texts; its script is Inherited.
	if points(t, "sc=Greek")[0x342] || !points(t, "scx=Greek")[0x342] {
		t.Error("Script_Extensions of Greek")
	}
	for _, name := range []string{"", "gc", "gc=", "gc=Lu", "Emo", "emoji", "sc=greek", "Emoji ", "Lowercase\n"} {
		if _, ok := ucd.Property(name); ok {
			t.Errorf("there is no property %q", name)
		}
	}
}

// Fold is a permutation whose cycles are those of the standard library, but for what
// Unicode 15.1 and 16.0 added.
func TestFold(t *testing.T) {
	later := map[rune]rune{ // to the next, in both directions
		0x390: 0x1FD3, 0x3B0: 0x1FE3, 0xFB05: 0xFB06, // 15.1
		0x1C89: 0x1C8A, 0x264: 0xA7CB, 0xA7CC: 0xA7CD, 0xA7DA: 0xA7DB, 0x19B: 0xA7DC, // 16.0
	}
	for r := rune(0x10D50); r <= 0x10D65; r++ {
		later[r] = r + 0x20 // Garay, 16.0
	}
	for low, high := range later {
		if ucd.Fold(low) != high || ucd.Fold(high) != low {
			t.Errorf("%U and %U: %U, %U", low, high, ucd.Fold(low), ucd.Fold(high))
		}
		later[high] = low
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if _, is := later[r]; !is && ucd.Fold(r) != unicode.SimpleFold(r) {
			t.Errorf("%U: %U, the standard library has %U", r, ucd.Fold(r), unicode.SimpleFold(r))
		}
	}
	if n := len(slices.Collect(ucd.Folding())); n != len(slices.Compact(slices.Sorted(ucd.Folding()))) || n < 2900 {
		t.Errorf("%d code points fold", n)
	}
}
