package schema

import "strings"

// resembling returns the name that is closest to a mistyped one, "" if none is close.
func resembling(text string, names []string) string {
	best, least := "", len(text)/3+2
	folded := squash(text)
	for _, name := range names {
		d := distance(text, name)
		if squash(name) == folded {
			d = 0
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// squash drops the differences between spellings of a name: case, "_" and "-".
func squash(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(fold([]byte(name)))
}

// distance returns the number of bytes to insert, delete or replace to turn a into b. Only the
// first bytes of long names are compared.
func distance(a, b string) int {
	const enough = 64
	a, b = a[:min(len(a), enough)], b[:min(len(b), enough)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := min(row[j], row[j+1]) + 1
			if replaced := corner; a[i] == b[j] {
				next = min(next, replaced)
			} else {
				next = min(next, replaced+1)
			}
			corner, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
