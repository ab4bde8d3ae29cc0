package source

import (
	"bytes"
	"regexp"
)

const (
	maxLabelled = 1 << 20 // bytes of a text with a labelled field
	maxLabels   = 32      // places of the label that are compared
)

// labelled returns the text of the group of a pattern. It is not ok if the pattern is found at
// several places with different texts: one of them may be forged. A second place may be inside the
// match of the first, before or after its group, where a search for matches would not look.
func labelled(re *regexp.Regexp, text []byte) (group []byte, ok bool) {
	if len(text) > maxLabelled {
		return nil, false
	}
	at := re.FindSubmatchIndex(text)
	if at == nil || at[2] < 0 || at[2] == at[3] {
		return nil, false
	}
	group = text[at[2]:at[3]]
	for rest, n := text[at[3]:], 0; ; n++ {
		next := re.FindSubmatchIndex(rest)
		if next == nil {
			break
		}
		if n == maxLabels || next[2] < 0 || next[2] == next[3] || !bytes.Equal(rest[next[2]:next[3]], group) {
			return nil, false
		}
		rest = rest[next[3]:]
	}
	for rest, n := text[:at[2]], 0; ; n++ {
		before := re.FindSubmatchIndex(rest)
		if before == nil || before[2] < 0 || before[3] == len(rest) {
			return group, true // a group that reaches the cut is a part of the text before this one
		}
		if n == maxLabels || !bytes.Equal(rest[before[2]:before[3]], group) {
			return nil, false
		}
		rest = rest[before[3]:]
	}
}

// labels returns the text of the group at every place of a pattern, up to a bound; then the rest of
// the text is one, too.
func labels(re *regexp.Regexp, text []byte) (groups [][]byte) {
	all := re.FindAllSubmatchIndex(text, maxLabels+1)
	for i, at := range all {
		if i == maxLabels {
			return append(groups, text[at[0]:])
		}
		if at[2] >= 0 && at[2] < at[3] {
			groups = append(groups, text[at[2]:at[3]])
		}
	}
	return groups
}
