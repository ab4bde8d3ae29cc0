package alternating

type direct struct{ text []byte }

func newDirect(p *Program, st *store, from stateInfo) *direct { return &direct{} }
func (d *direct) accepts(member int) bool                     { return false }
