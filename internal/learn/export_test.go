package learn

// ProposeOneByOne is Propose with a program for each rule.
func ProposeOneByOne(p Policy, rows []Row, o Options) (*Result, error) {
	l, err := New(p)
	if err != nil {
		return nil, err
	}
	l.oneByOne = true
	return l.Propose(rows, o)
}
