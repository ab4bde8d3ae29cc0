package hook

import (
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// withFiles adds the files that a patch touches to the arguments of the call, as
// "patch_paths", so that guards and rules on paths see them (DECISIONS S40). A patch
// that cannot be read, or arguments that have such a member already, are refused.
func withFiles(args []byte, member string) ([]byte, error) {
	root, err := jsonstream.Parse(args, jsonstream.Options{ObjectRoot: true, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return args, nil // the gate says what is wrong with them
	}
	if _, taken := root.Get(patchPaths); taken {
		return nil, errPatch
	}
	text := ""
	for _, m := range strings.Fields(member) {
		if v, ok := root.Get(m); ok {
			if v.Kind() != jsonstream.String || text != "" {
				return nil, errPatch
			}
			text = v.Text()
		}
	}
	files := patchFiles(text)
	if len(files) == 0 {
		return nil, errPatch
	}
	_, end := root.Span()
	out := append([]byte(nil), args[:end-1]...)
	if root.Len() > 0 {
		out = append(out, ',')
	}
	out = append(jsonstream.AppendQuote(out, patchPaths), ':', '[')
	for i, f := range files {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonstream.AppendQuote(out, f)
	}
	return append(append(out, ']'), args[end-1:]...), nil
}

// patchPaths is the member that withFiles adds.
const patchPaths = "patch_paths"

// patchFiles lists the files of an apply_patch text; nil if it is none. Every line
// outside of the forms of that language makes it none: what another reader would take
// for one more file must not be overlooked.
func patchFiles(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) < 3 || strings.TrimSpace(lines[0]) != "*** Begin Patch" || strings.TrimSpace(lines[len(lines)-1]) != "*** End Patch" {
		return nil
	}
	var files []string
	for _, line := range lines[1 : len(lines)-1] {
		trimmed := strings.TrimSpace(line)
		if file, ok := patchHeader(trimmed); ok {
			if file == "" {
				return nil
			}
			files = append(files, file)
			continue
		}
		switch {
		case strings.HasPrefix(trimmed, "*** End of File"):
		case strings.HasPrefix(trimmed, "***"):
			return nil
		case trimmed == "", strings.HasPrefix(line, "@@"), strings.ContainsAny(line[:1], "+- "):
			if len(files) == 0 && trimmed != "" {
				return nil
			}
		default:
			return nil
		}
	}
	return files
}

func patchHeader(line string) (file string, ok bool) {
	for _, prefix := range []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"} {
		if rest, found := strings.CutPrefix(line, prefix); found {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}
