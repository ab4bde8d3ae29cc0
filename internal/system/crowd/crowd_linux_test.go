package crowd

import "testing"

// Parses the contents of the system's files; invalid contents yield 0.
func TestParseSystemFiles(t *testing.T) {
	for text, want := range map[string]int{
		"0.20 0.18 0.12 1/80 11206\n":            1,
		"31.74 13.92 6.39 336/1577 27308\n":      336,
		"":                                       0,
		"0.20 0.18 0.12\n":                       0,
		"0.20 0.18 0.12 -3/80 1\n":               0,
		"0.20 0.18 0.12 x/80 1\n":                0,
		"0.20 0.18 0.12 99999999999999999999/80": 0,
	} {
		if got := runnableOf([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"0": 1, "0-1": 2, "0-3,8": 5, "0-3,8-9,12": 7, "": 0, "3-1": 0, "0-": 0, "a": 0} {
		if got := listed(text); got != want {
			t.Errorf("%q: %d processors, want %d", text, got, want)
		}
	}
}
