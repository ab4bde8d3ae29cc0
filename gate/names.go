package gate

import "github.com/stopgate/stopgate"

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
	short(p, &c.Tool, maxName)
	short(p, &c.ID, maxCallID)
	short(p, &c.Session, maxName)
	short(p, &c.Agent, maxName)
	short(p, &c.Turn, maxName)
	short(p, &c.Server, maxName)
}

func short[T ~string](p *pending, name *T, most int) {
	if len(*name) > most {
		*name, p.cut = T(word(string(*name))), true
	}
}

// checkNames denies a call with a name that was too long; p.mu is held, or the call is not
// shared yet.
func (p *pending) checkNames() {
	if p.cut && !p.terminal {
		p.cause = "a name"
		p.addVerdict(p.refusal(stopgate.LayerIntegrity, stopgate.CodeLimitExceeded))
	}
}
