package pathname

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/patch"
	"github.com/stopgate/stopgate/internal/condition/pathform"
)

// patchTest evaluates the files that a patch names (S40): any of them if it is restrictive, all if
// it is permissive. A patch that cannot be parsed satisfies no condition, and always requires an
// approval.
type patchTest struct {
	restrictive bool
	path        condition.TextTest
}

// CompilePatch compiles a condition on the files that a patch names.
func CompilePatch(s condition.Spec, restrictive bool, env condition.Env) (condition.TextTest, *condition.SpecError) {
	path, err := Compile(s, false, restrictive, env)
	return &patchTest{restrictive, path}, err
}

func (t *patchTest) Match(value []byte) bool { return t.holds(patch.Files(string(value))) }

func (t *patchTest) Judge(v *condition.Value) bool { return t.holds(patch.FilesOf(v)) }

func (t *patchTest) holds(files []string, ok bool) bool {
	if !ok {
		return false
	}
	for _, f := range files {
		// The patch is released as it is, so a permission requires names in canonical form (K4).
		certain := t.restrictive || isCanonical(f)
		if (certain && t.path.Match([]byte(f))) == t.restrictive {
			return t.restrictive
		}
	}
	return !t.restrictive
}

func isCanonical(path string) bool {
	canonical, _ := pathform.AppendCanonical(nil, []byte(path))
	return string(canonical) == path
}
