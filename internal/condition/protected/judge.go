package protected

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/patch"
	"github.com/stopgate/stopgate/internal/schema"
)

// Judge evaluates a string as a path, a command line or a patch. A patch counts by the files that it
// names. It implements [condition.Protected].
func (p *List) Judge(v *condition.Value, as schema.Annotation) (protection condition.Protection, unknown condition.Unknown) {
	switch as {
	case schema.Path:
		if protection, _ = p.PathOf(v); protection == condition.UnknownTarget {
			unknown = p.unknownPath(v)
		}
	case schema.Command:
		if protection, _ = p.CommandOf(v); protection == condition.UnknownTarget {
			unknown = p.unknownCommand(v)
		}
	case schema.Patch:
		files, _ := patch.FilesOf(v)
		for _, f := range files {
			of, _ := p.Path([]byte(f))
			protection = max(protection, of)
		}
	}
	return protection, unknown
}
