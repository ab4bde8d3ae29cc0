package calls

import "github.com/stopgate/stopgate"

// Same compares the calls of a response that is decoded again with those that are being judged. The
// gate's arguments are released, so that names are enough. It implements provider.Sink.
type Same struct {
	Calls  *Calls
	n      int
	differ bool
}

// Event implements provider.Sink.
func (s *Same) Event(e *stopgate.Event) {
	if e.Kind == stopgate.CallStarted {
		s.differ = s.differ || e.Call != s.n || s.n >= len(s.Calls.List) || s.Calls.List[s.n].Tool != e.Tool
		s.n++
	}
}

// Equal reports whether the calls are the same.
func (s *Same) Equal() bool { return !s.differ && s.n == len(s.Calls.List) }
