package fleet

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/cli/author"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/policy"
)

// nothing is a policy file without rules.
var nothing = []byte("version = 1\n")

// differences compares two bundles file by file, as diff does, and shows the changes. It returns why
// the newer one may decide calls more loosely: each file is a layer, so what no file loosens is not
// loosened. A file that is gone took its restrictions along.
func differences(talk io.Writer, last, b *bundle.Bundle) (loosened []string, err error) {
	var tools []stopgate.ToolDefinition
	if text, ok := b.File(bundle.ToolsFile); ok {
		if tools, err = inputs.ParseTools(bundle.ToolsFile, text); err != nil {
			return nil, err
		}
	}
	before, _ := last.File(bundle.ToolsFile)
	after, _ := b.File(bundle.ToolsFile)
	if !bytes.Equal(before, after) {
		loosened = append(loosened, bundle.ToolsFile+" changed")
	}
	if p := b.Previous; p != nil && p.Digest != last.Digest && (last.Previous == nil || p.Digest != last.Previous.Digest) {
		loosened = append(loosened, fmt.Sprintf("the other sessions get generation %d, which is not in force", p.Generation))
	}
	for _, name := range policies(last, b) {
		before, was := last.File(name)
		after, is := b.File(name)
		switch {
		case bytes.Equal(before, after) && was == is:
			continue
		case !is:
			loosened = append(loosened, name+" is gone")
			continue
		case !was:
			before = nothing
		}
		fmt.Fprintf(talk, "%s:\n", name)
		loose, err := author.Compare(talk, policy.Source{Name: name, Text: before, Trusted: true}, policy.Source{Name: name, Text: after, Trusted: true}, tools)
		if err != nil {
			return nil, err
		}
		if loose != "" {
			loosened = append(loosened, name+" "+loose)
		}
	}
	return loosened, nil
}

// policies returns the names of the policy files of both bundles, sorted.
func policies(bundles ...*bundle.Bundle) (names []string) {
	for _, b := range bundles {
		for _, f := range b.Files {
			if f.IsPolicy() {
				names = append(names, f.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
