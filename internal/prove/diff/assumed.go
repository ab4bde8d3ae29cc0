package diff

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/internal/policy"
)

// The directories that paths are read against where no file or option names them, for files with paths
// below a home or usages with places of a project: without a directory such an entry holds for
// no call.
const (
	assumedHome = "/home/q7w9"
	assumedRoot = "/srv/q7w9"
)

// assume sets the directories that files speak of and that are not known, and returns them. A
// file that names its own keeps it.
func assume(o *policy.Options, texts ...[]byte) (assumed []string) {
	speaks := func(of ...string) bool {
		return slices.ContainsFunc(texts, func(text []byte) bool {
			return slices.ContainsFunc(of, func(word string) bool { return bytes.Contains(text, []byte(word)) })
		})
	}
	if o.Home == "" && speaks("~/") {
		o.Home = assumedHome
		assumed = append(assumed, "home "+assumedHome)
	}
	if o.Root == "" && speaks("<root>", "<below>") {
		o.Root = assumedRoot
		assumed = append(assumed, "root "+assumedRoot)
	}
	return assumed
}
