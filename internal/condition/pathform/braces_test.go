package pathform

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// searchBraces is firstBraces without its stack: it looks for the end of each group anew.
func searchBraces(s string) (open, end int, commas []int) {
	for open = 0; open < len(s); open++ {
		if s[open] != '{' {
			continue
		}
		depth := 0
		commas = commas[:0]
	group:
		for end = open; end < len(s); end++ {
			switch s[end] {
			case '{':
				depth++
			case ',':
				if depth == 1 {
					commas = append(commas, end)
				}
			case '}':
				if depth--; depth == 0 {
					break group
				}
			}
		}
		if end < len(s) && (len(commas) > 0 || strings.Contains(s[open:end], "..")) {
			return open, end, commas
		}
	}
	return -1, 0, nil
}

// Proves C15, E25: the first group that a shell expands is found in one pass.
func TestFirstBraces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 200_000 {
		word := make([]byte, random.IntN(14))
		for i := range word {
			word[i] = "{{}},..a"[random.IntN(8)]
		}
		open, end, commas := firstBraces(string(word))
		wantOpen, wantEnd, wantCommas := searchBraces(string(word))
		if open != wantOpen || open >= 0 && (end != wantEnd || !slices.Equal(commas, wantCommas)) {
			t.Fatalf("%q: %d to %d with %v, want %d to %d with %v", word, open, end, commas, wantOpen, wantEnd, wantCommas)
		}
		if open >= 0 {
			found++
		}
	}
	if found < 10_000 {
		t.Errorf("only %d words have a group", found)
	}
}

// Proves E25: a word with very many groups is not expanded.
func TestManyGroups(t *testing.T) {
	for _, unit := range []string{"{1..2}", "{a,b}"} {
		if _, ok := braceWords(strings.Repeat(unit, maxGroups+1), MaxReadings); ok {
			t.Errorf("%q: all words are listed", unit)
		}
	}
	if words, ok := braceWords("{1..2}{a,{b,c}}x", MaxReadings); !ok || !slices.Equal(words, []string{"*ax", "*bx", "*cx"}) {
		t.Errorf("%q, %v", words, ok)
	}
}
