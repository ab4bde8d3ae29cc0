package records

import "fmt"

// misfits are the rows of a chain that have other members than the columns by which filters and reports find them.
type misfits struct {
	first  int64 // number of a row
	reason string
	count  int64
}

// add adds a row unless the reason is "".
func (m *misfits) add(seq int64, reason string) {
	if reason == "" {
		return
	}
	if m.count++; m.count == 1 {
		m.first, m.reason = seq, reason
	}
}

// err returns the error of a chain that is whole but for them, nil without any.
func (m *misfits) err() error {
	if m.count == 0 {
		return nil
	}
	more := ""
	if m.count > 1 {
		more = fmt.Sprintf(" (and %d more)", m.count-1)
	}
	return fmt.Errorf("row %d%s does not fit the columns that find it: %s; filters and reports may leave it out, and "+
		"'stopgate log export' writes all rows as they were sealed", m.first, more, m.reason)
}
