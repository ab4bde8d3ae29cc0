package policy

// LooksAtResults reports whether any tool has rules about its results. Without them
// every result is delivered (K32), without a search for its call.
func (p *Program) LooksAtResults() bool {
	for _, l := range p.Layers() {
		for _, t := range l.File.Tools {
			if t.Result != nil {
				return true
			}
		}
	}
	return false
}
