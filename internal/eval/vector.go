package eval

// closeVector evaluates a complete argument vector as a command (S40). One without words is a
// branch without a value, like every empty array (K3).
func (w *walker) closeVector(e *leafTests) {
	p := w.vector
	w.vector = position{}
	v := &e.vector
	if v.Read(e.value); len(v.Words) == 0 {
		for _, site := range p.shape.under {
			e.empty(site, p.optional)
		}
		w.end(e, p)
		return
	}
	w.startText(e, p, arrayType)
	for i := range e.watches {
		if c := &e.watches[i]; c.shape.needs&watchControls != 0 && control(v.Text, c.shape.needs&allowTabs != 0) > 0 {
			e.controlFound(c.view)
		}
	}
	e.scratch = e.plan.table.AppendWords(e.scratch[:0], v.Words)
	e.str.ResetWords(e.scratch, v.Words, v.Complete)
	e.str.SetTexts(e.sessionTexts)
	e.prepared, e.decoded = true, true
	e.textEnd()
	w.endScalar(e, p)
}
