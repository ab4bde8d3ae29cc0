package naiveflow

// Guesses tries the answers that the definition leaves open. Each run begins with another one, until
// all were tried or there are too many.
type Guesses struct {
	bits  []bool
	used  int
	known map[string]bool
	runs  int
}

// Next begins a run; it is false after the last one. open reports that not all were tried.
func (g *Guesses) Next() (more, open bool) {
	const most = 64
	if g.runs > 0 {
		g.bits = g.bits[:g.used]
		for len(g.bits) > 0 && g.bits[len(g.bits)-1] {
			g.bits = g.bits[:len(g.bits)-1]
		}
		if len(g.bits) == 0 {
			return false, false
		}
		g.bits[len(g.bits)-1] = true
	}
	g.runs++
	g.used, g.known = 0, map[string]bool{}
	return g.runs <= most, g.runs > most
}

// Guess answers a question, the same one always alike.
func (g *Guesses) Guess(question string) bool {
	if a, ok := g.known[question]; ok {
		return a
	}
	if g.used == len(g.bits) {
		g.bits = append(g.bits, false)
	}
	a := g.bits[g.used]
	g.used++
	g.known[question] = a
	return a
}
