package process

import (
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/policy"
)

// Checked is what is remembered under some options.
type Checked struct{ c *checked }

// Remember opens it.
func Remember(o policy.Options) Checked { return Checked{remember(o, config.Account{})} }

// Dir is where it is kept.
func (c Checked) Dir() string { return c.c.dir }

// Knows asks about a source.
func (c Checked) Knows(s policy.Source) bool { return c.c.knows(s) }

// Keep remembers what was asked about.
func (c Checked) Keep() { c.c.keep() }

// Limits are those of a hook with a deadline.
func Limits(deadline time.Duration) gate.Limits {
	w := wiring{flags: &Flags{Deadline: deadline}}
	return w.limits()
}

// Whole reports whether all that a directory has is known.
func Whole(dir string) bool { return entries(dir) != nil }
