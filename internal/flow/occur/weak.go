package occur

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// common are words that occur in every conversation.
var common = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`yes no true false null none nil undefined all any both other others on off ok okay
		today tomorrow yesterday now new old low medium high open closed public private default unknown
		and but for not the this that with from you your name email date time user file data text test title
		message subject description value type first last next previous`) {
		m[w] = true
	}
	return m
})

// weak reports whether a value occurs by chance: fewer than three characters, a number below 1000
// without a unit, a common word.
func weak(value []byte) bool {
	value = bytes.TrimSpace(value)
	if utf8.RuneCount(value) < 3 {
		return true
	}
	if len(value) > 16 {
		return false
	}
	if n, ok := plainNumber(value); ok && len(bytes.TrimLeft(bytes.SplitN(n, []byte("."), 2)[0], "-")) < 4 {
		return true
	}
	return common()[string(appendFolded(nil, normalised(value)))]
}
