package policy

import (
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/tomltree"
)

// JSON writes a TOML value as the JSON text that it stands for in rules and in test
// cases: members in file order, numbers exactly (K26). It is nil if the list has
// an error.
func JSON(v *tomltree.Value) ([]byte, diag.List) {
	p := &parser{policy: &Policy{File: v.File()}}
	text, ok := p.json(nil, v)
	if !ok {
		return nil, p.diags
	}
	return text, nil
}
