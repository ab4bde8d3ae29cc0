package content

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// split divides an event before every text that follows a call. The last event has all members of the
// original.
func split(data []byte) [][]byte {
	if !bytes.Contains(data, []byte(`"functionCall"`)) {
		return nil
	}
	root, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1))
	if err != nil {
		return nil // the codec rejects it
	}
	var edits provider.Edits
	var earlier [][]byte // the candidates of the earlier events
	list, _ := root.Get("candidates")
	for candidate := range list.Elements() {
		groups := groupsOf(candidate)
		for i, parts := range groups[:len(groups)-1] {
			if i == len(earlier) {
				earlier = append(earlier, nil)
			} else {
				earlier[i] = append(earlier[i], ',')
			}
			earlier[i] = append(earlier[i], '{')
			if index, ok := candidate.Get("index"); ok {
				earlier[i] = append(append(append(earlier[i], `"index":`...), index.Raw()...), ',')
			}
			earlier[i] = append(append(earlier[i], `"content":{"parts":[`...), bytes.Join(parts, []byte{','})...)
			earlier[i] = append(earlier[i], `],"role":"model"}}`...)
		}
		keep := len(groups[len(groups)-1])
		content, _ := candidate.Get("content")
		parts, _ := content.Get("parts")
		n, left := parts.Len()-keep, 0
		edits.Remove(parts, func(_, _ jsonstream.Value) bool { left++; return left <= n })
	}
	if len(earlier) == 0 {
		return nil
	}
	events := make([][]byte, 0, len(earlier)+1)
	for _, candidates := range earlier {
		events = append(events, append(append([]byte(`{"candidates":[`), candidates...), "]}"...))
	}
	return append(events, edits.AppendTo(nil, data, 0, len(data)))
}

// groupsOf divides the parts of a candidate before every text that follows a call.
func groupsOf(candidate jsonstream.Value) [][][]byte {
	groups, called := [][][]byte{nil}, false
	for part := range partsOf(candidate) {
		if text := answerText(part); called && text.IsValid() && !text.IsText("") {
			groups, called = append(groups, nil), false
		}
		called = called || isCall(part)
		last := &groups[len(groups)-1]
		*last = append(*last, part.Raw())
	}
	return groups
}
