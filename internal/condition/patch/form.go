package patch

import "github.com/stopgate/stopgate/internal/condition"

// form is a string as a patch, which is parsed once.
type form struct {
	parsed bool
	files  []string
	ok     bool
}

// Derive makes the form that of a string.
func (f *form) Derive(*condition.Value) { *f = form{} }

// FilesOf is [Files] for a string that several conditions share.
func FilesOf(v *condition.Value) (files []string, ok bool) {
	f := condition.Derived[form](v)
	if !f.parsed {
		f.parsed = true
		if v.Valid() && len(v.Text()) <= condition.Budget {
			f.files, f.ok = Files(string(v.Text()))
		}
	}
	return f.files, f.ok
}

// Readable reports whether a string can be parsed as a patch with certainty.
func Readable(v *condition.Value) bool {
	_, ok := FilesOf(v)
	return ok
}
