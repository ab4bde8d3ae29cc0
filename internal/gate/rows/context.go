package rows

import (
	"crypto/sha256"

	"github.com/stopgate/stopgate"
)

// maxDirectory bounds the name of a directory in a row.
const maxDirectory = 1024

// Context returns the part of the context that rows record: where the policy resolves
// paths. It is nil if that is empty.
func Context(env stopgate.Context) *stopgate.Context {
	c := stopgate.Context{RunDoubt: env.RunDoubt, RunLost: env.RunLost}
	keep := func(dir string) string {
		if len(dir) > maxDirectory || !Printable(dir) {
			c.Cut = true
			return ""
		}
		return dir
	}
	c.Root, c.Home = keep(env.Root), keep(env.Home)
	if env.Dir != env.Root {
		c.Dir = keep(env.Dir)
	}
	if env.Run != "" {
		c.Run = Hex(sha256.Sum256([]byte(env.Run)))
	}
	if c == (stopgate.Context{}) {
		return nil
	}
	return &c
}
