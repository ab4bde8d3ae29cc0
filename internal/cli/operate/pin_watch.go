package operate

import (
	"github.com/stopgate/stopgate/internal/mcp/pin"
)

// pinWatch notices definitions of tools that were accepted or forgotten in another process, and
// notifies clients that their tools may have changed.
type pinWatch struct {
	store *pin.Store
	tell  func()
	known map[[2]string]string // the accepted definition of each tool
}

// look is called from time to time, the first time before there is a client. A tool that is new is none of its business: clients
// saw it when it was first pinned.
func (w *pinWatch) look() {
	pins, err := w.store.List()
	if err != nil {
		return // every call reports it
	}
	now := make(map[[2]string]string, len(pins))
	for _, p := range pins {
		now[[2]string{p.Server, string(p.Tool)}] = p.Accepted.Hash
	}
	changed := false
	for tool, hash := range w.known {
		changed = changed || now[tool] != hash
	}
	if w.known = now; changed {
		w.tell()
	}
}
