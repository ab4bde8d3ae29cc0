package hook

import (
	"github.com/stopgate/stopgate/internal/condition/patch"
	"github.com/stopgate/stopgate/jsonstream"
)

// withFiles adds the files of a patch to the arguments as "patch_paths", so that guards and
// rules on paths apply to them (S40). It returns an error if the patch cannot be parsed or
// the arguments already have that member.
func withFiles(args []byte, members []string) ([]byte, error) {
	root, err := jsonstream.Parse(args, jsonstream.Options{ObjectRoot: true, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return args, nil // the gate reports invalid arguments
	}
	if _, taken := root.Get(patchPaths); taken {
		return nil, errPatch
	}
	text := ""
	for _, m := range members {
		if v, ok := root.Get(m); ok {
			if v.Kind() != jsonstream.String || text != "" {
				return nil, errPatch
			}
			text = v.Text()
		}
	}
	files, ok := patch.Files(text)
	if !ok {
		return nil, errPatch
	}
	_, end := root.Span()
	out := append([]byte(nil), args[:end-1]...)
	if root.Len() > 0 {
		out = append(out, ',')
	}
	return append(appendList(out, patchPaths, files), args[end-1:]...), nil
}

// patchPaths is the member that withFiles adds.
const patchPaths = "patch_paths"
