package diag

import "strings"

// Suggest returns the candidate that is closest to a mistyped word, "" if none is close: at most a
// third of the letters may be wrong, missing, extra or swapped.
func Suggest(word string, candidates []string) string {
	const longest = 64
	if len(word) > longest {
		return ""
	}
	best, found := len(word)/3+1, ""
	for _, c := range candidates {
		if strings.EqualFold(strings.ReplaceAll(c, "-", "_"), strings.ReplaceAll(word, "-", "_")) {
			return c
		}
		if d := distance(word, c); d < best {
			best, found = d, c
		}
	}
	return found
}

// DidYouMean returns the hint for a mistyped word. Without a close candidate it lists the
// candidates, if they are few.
func DidYouMean(word string, candidates []string) string {
	if near := Suggest(word, candidates); near != "" {
		return "did you mean `" + near + "`?"
	}
	const most = 12
	if len(candidates) == 0 || len(candidates) > most {
		return ""
	}
	return "possible: " + strings.Join(candidates, ", ")
}

// Words lists words for a message, each in backticks.
func Words(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

// distance returns the number of letters that have to be changed, added, removed or swapped with
// their neighbour to turn a into b (optimal string alignment).
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// OneOf formats alternatives: a, b or c.
func OneOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
