package gate

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxDirectory bounds the name of a directory in a row.
const maxDirectory = 1024

// contextOf returns the part of the context that rows record: where the policy resolves
// paths. It is nil if that is empty.
func contextOf(env stopgate.Context) *stopgate.Context {
	c := stopgate.Context{RunDoubt: env.RunDoubt, RunLost: env.RunLost}
	keep := func(dir string) string {
		if len(dir) > maxDirectory || !printable(dir) {
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
		c.Run = hexOf(sha256.Sum256([]byte(env.Run)))
	}
	if c == (stopgate.Context{}) {
		return nil
	}
	return &c
}

// context returns the context of the call for its row; p.mu is held.
func (p *pending) context() *stopgate.Context {
	pinned := p.call.Definition != nil && p.call.Definition.Pinned
	if p.call.Server == "" && !pinned && !p.data.IsValid() {
		return p.under.context
	}
	var c stopgate.Context
	if p.under.context != nil {
		c = *p.under.context
	}
	c.Server, c.Pinned = stopgate.ServerID(word(string(p.call.Server))), pinned
	if p.data.IsValid() {
		sum := jsonstream.HashCanonical(p.data)
		c.SessionData = hex.EncodeToString(sum[:])
	}
	return &c
}
