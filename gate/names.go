package gate

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/rows"
)

// Bounds of the names of a call, in bytes. Models, clients and servers choose them, and every
// record of a call holds them. The id of a call may be long: some providers encode their own
// state in it.
const (
	maxName   = 1 << 10
	maxCallID = 64 << 10
)

// shorten cuts the names of the call that are too long, as rows have them. Such a call is
// denied: see [pending.checkNames].
func (p *pending) shorten() {
	c := &p.call
	cut := shortName(&c.Tool, maxName)
	cut = shortName(&c.ID, maxCallID) || cut
	cut = shortName(&c.Session, maxName) || cut
	cut = shortName(&c.Agent, maxName) || cut
	cut = shortName(&c.Turn, maxName) || cut
	cut = shortName(&c.Server, maxName) || cut
	p.cut = cut || p.cut
}

// shortName cuts a name that is longer than most bytes, and reports whether it did.
func shortName[T ~string](name *T, most int) bool {
	if len(*name) <= most {
		return false
	}
	*name = T(rows.Word(string(*name)))
	return true
}

// checkNames denies a call with a name that was too long; p.mu is held, or the call is not
// shared yet.
func (p *pending) checkNames() {
	if p.cut && !p.verdicts.terminal {
		p.verdicts.cause = "a name"
		p.addVerdict(p.refusal(stopgate.LayerIntegrity, stopgate.CodeLimitExceeded))
	}
}
