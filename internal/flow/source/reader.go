package source

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Reader implements [flow.Reader] for the sources of a policy. It is immutable.
type Reader struct {
	config      Config
	definitions []*definition
	trusted     []flow.Source
	own         ownAddresses
	says        []saying
	lastUser    bool
	meaning     func() string
}

var _ flow.Reader = (*Reader)(nil)

// New compiles the sources of a policy. A definition that leans on itself, or that the parser would
// have refused, covers no text.
func New(c Config) *Reader {
	if c.Tool == nil {
		c.Tool = func(stopgate.ToolName) Facts { return Facts{Effect: true} }
	}
	r := &Reader{
		config:      c,
		definitions: definitions(&c),
		trusted:     Trusted(c.Files),
		own:         newOwn(c.Own),
		says:        sayings(c.Says),
		lastUser:    onlyLast(c.Files),
	}
	r.meaning = sync.OnceValue(r.identify)
	return r
}

// onlyLast reports whether a file of the operator limits the source user to the last message.
func onlyLast(files []File) bool {
	return slices.ContainsFunc(files, func(f File) bool {
		return f.Scope == "" && slices.ContainsFunc(f.Sources, func(t *syntax.SourceTable) bool { return t.Name == flow.User && t.Last })
	})
}

// version is that of the marks and texts that this package adds.
const version = 1

// Meaning implements [flow.Reader].
func (r *Reader) Meaning() string { return r.meaning() }

// identify returns a hash of everything that the segments of the reader depend on.
func (r *Reader) identify() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %t %q %q %q\n", version, r.config.Budget, r.lastUser, r.own, r.trusted, r.config.Tools)
	for _, d := range r.definitions {
		fmt.Fprintf(h, "%q %q %v %q %q %t %q %d", d.name, d.tools, d.globs, d.items, d.field, d.keys, d.format, d.kind)
		for _, name := range d.tools {
			fmt.Fprintf(h, " %v", r.config.Tool(name))
		}
		for _, q := range slices.Concat(d.asked, d.where) {
			fmt.Fprintf(h, " %q %q %q %v %d %t %d %v", q.pointer, q.literal, q.from, q.label, q.as, q.stated, q.relation, q.pattern)
		}
		fmt.Fprintf(h, " %d %v\n", len(d.asked), d.label)
	}
	for _, s := range r.says {
		fmt.Fprintf(h, "%q %t %v\n", s.key, s.anywhere, s.pattern)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// NewIndex implements [flow.Reader].
func (r *Reader) NewIndex(key []byte) flow.Index {
	return index.New(key, index.Options{Budget: r.config.Budget, LastUser: r.lastUser})
}

// Knows implements [flow.Reader].
func (r *Reader) Knows(to flow.Index, k flow.Knowledge) []byte {
	return to.(texts).Add(&index.Batch{Know: k})
}

// facts returns how the policy sees a tool, and its name in the policy.
func (r *Reader) facts(tool stopgate.ToolName) (stopgate.ToolName, Facts) {
	if tool == "" {
		return "", Facts{}
	}
	f := r.config.Tool(tool)
	if f.Name != "" {
		tool = f.Name
	}
	return tool, f
}

// maxText is the longest result that is read: larger than the budget it would be dropped anyway.
func (r *Reader) maxText() int {
	if b := r.config.Budget; b > 0 && b < maxText {
		return int(b)
	}
	return maxText
}
