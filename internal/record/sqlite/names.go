package sqlite

import (
	"fmt"
	"maps"
	"sync/atomic"

	"github.com/stopgate/stopgate/internal/store/compact"
	"github.com/stopgate/stopgate/internal/store/database"
)

// maxNames bounds the names of a file. They are never removed: texts beyond are in every row that has them.
const maxNames = 10_000

const (
	selectNames = "SELECT id, text FROM audit_names WHERE id > ?"
	insertName  = "INSERT INTO audit_names(text) SELECT ?1 WHERE (SELECT count(*) FROM audit_names) < ?2 ON CONFLICT(text) DO NOTHING"
)

// Names are the texts that the rows and facts of a file repeat, as far as a process has read them: the id of the chain, and those of
// policies and rules. The file has each once, under a number that it never gives to another text. The zero Names has not read any.
// It is safe for concurrent use.
type Names struct {
	read atomic.Pointer[table]
}

var _ compact.Names = (*Names)(nil)

// table has names that are committed. It is not modified.
type table struct {
	numbers map[string]uint64
	texts   map[uint64]string
	last    uint64
}

var noNames table

func (n *Names) table() *table {
	if t := n.read.Load(); t != nil {
		return t
	}
	return &noNames
}

// Number implements [compact.Names].
func (n *Names) Number(text []byte) (uint64, bool) {
	number, ok := n.table().numbers[string(text)]
	return number, ok
}

// Text implements [compact.Names].
func (n *Names) Text(number uint64) (string, bool) {
	text, ok := n.table().texts[number]
	return text, ok
}

// In returns the names for a change or a snapshot, which reads the missing ones from the file when a row has one of them.
func (n *Names) In(tx *database.Tx) compact.Names { return &namesIn{Names: n, tx: tx} }

// namesIn reads names in a transaction. It publishes them at once: a transaction adds its own only at its end, after all its
// changes have read.
type namesIn struct {
	*Names
	tx   *database.Tx
	done bool // all of the file are read
}

// Text implements [compact.Names].
func (n *namesIn) Text(number uint64) (string, bool) {
	if text, ok := n.Names.Text(number); ok || n.done {
		return text, ok
	}
	n.done = true
	t, err := n.after(n.tx)
	if err != nil {
		return "", false // as for a name that is missing: the row is reported
	}
	n.publish(t)
	text, ok := t.texts[number]
	return text, ok
}

// after returns the known names and those that were added to the file since.
func (n *Names) after(tx *database.Tx) (*table, error) {
	old := n.table()
	rows, err := tx.Query(selectNames, int64(old.last))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	t := &table{numbers: map[string]uint64{}, texts: map[uint64]string{}, last: old.last}
	maps.Copy(t.numbers, old.numbers)
	maps.Copy(t.texts, old.texts)
	for rows.Next() {
		var number uint64
		var text string
		if err := rows.Scan(&number, &text); err != nil {
			return nil, err
		}
		t.numbers[text], t.texts[number], t.last = number, text, max(t.last, number)
	}
	return t, rows.Err()
}

// publish makes names known, unless a table with more of them is.
func (n *Names) publish(t *table) {
	for old := n.read.Load(); old == nil || old.last < t.last; old = n.read.Load() {
		if n.read.CompareAndSwap(old, t) {
			return
		}
	}
}

// wantedKey is the key of the names that a transaction adds to the file.
type wantedKey struct{}

// Want adds texts to the file at the end of a transaction, if it has room and they are worth it. Rows that are written after the
// commit refer to them.
func (n *Names) Want(tx *database.Tx, texts ...string) {
	for _, text := range texts {
		if len(text) < compact.ShortestName || len(text) > compact.LongestName {
			continue
		}
		t := n.table()
		if _, known := t.numbers[text]; known || len(t.texts) >= maxNames {
			continue
		}
		wanted, ok := tx.Value(wantedKey{}).(map[string]bool)
		if !ok {
			wanted = map[string]bool{}
			tx.SetValue(wantedKey{}, wanted)
			tx.Finally(func() error { return n.add(tx, wanted) })
		}
		wanted[text] = true
	}
}

// add adds texts to the file. They are known after the commit, with those that other processes have added.
func (n *Names) add(tx *database.Tx, texts map[string]bool) error {
	for text := range texts {
		if _, err := tx.Exec(insertName, text, maxNames); err != nil {
			return fmt.Errorf("audit names: %w", err)
		}
	}
	t, err := n.after(tx)
	if err != nil {
		return fmt.Errorf("audit names: %w", err)
	}
	tx.OnCommit(func() { n.publish(t) })
	return nil
}
