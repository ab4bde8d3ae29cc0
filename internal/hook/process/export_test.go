package process

import (
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Checked is the cache for some options.
type Checked struct{ c *checked }

// Remember opens it.
func Remember(o policy.Options) Checked { return Checked{remember(o, Program{Compile: prove.Compile})} }

// Dir returns its directory.
func (c Checked) Dir() string { return c.c.dir }

// Knows looks up a source.
func (c Checked) Knows(s policy.Source) bool { return c.c.knows(s) }

// Keep adds the sources that were looked up.
func (c Checked) Keep() { c.c.keep() }

// Limits returns the limits of a hook with a deadline.
func Limits(deadline time.Duration) gate.Limits {
	w := wiring{flags: &Flags{Deadline: deadline}}
	return w.limits()
}

// Complete reports whether all entries of a directory are known.
func Complete(dir string) bool { return entries(dir) != nil }
