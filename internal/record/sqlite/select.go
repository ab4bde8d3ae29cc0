package sqlite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/store/compact"
	"github.com/stopgate/stopgate/internal/store/database"
)

// Selection selects rows. The zero Selection selects all. Rows that it selects may have to be looked at once more: sessions can
// share a number, and not every row has a class.
type Selection struct {
	Session string
	// Class selects rows by the members that a [class] has; nil selects all.
	Class func(*stopgate.Record) bool
	// Rules selects rows by the ids of their rules; nil selects all.
	Rules []stopgate.RuleID
	// Since and Until bound the times of rows, in microseconds; 0 is no bound.
	Since, Until int64
}

// plan is a selection in a snapshot of the file.
type plan struct {
	Selection
	first, last    int64   // the numbers of the rows that can be selected
	end            int64   // the number of the last row
	old, converted int64   // see [Tables]
	classes        []int64 // sorted, with unclassed; nil for all
	list           string  // of the classes in JSON
	anyRule        bool    // a class of the file names no rule, so that its rows may have any
}

const selectBounds = "SELECT newest, behind, old, converted, coalesce((SELECT min(seq) FROM audit_rows), 0), coalesce((SELECT max(seq) FROM audit_rows), 0) FROM audit_chain"

// planOf finds the classes of a selection, and the bounds of the numbers of its rows.
func planOf(tx *database.Tx, s Selection) (*plan, error) {
	p := &plan{Selection: s}
	var newest, behind int64
	if _, err := tx.Get([]any{&newest, &behind, &p.old, &p.converted, &p.first, &p.last}, selectBounds); err != nil {
		return nil, err
	}
	p.end = p.last
	var err error
	if s.Class != nil || s.Session != "" || s.Rules != nil {
		if err = p.findClasses(tx); err != nil {
			return nil, err
		}
	}
	spread := behind + newestStep
	if s.Since != 0 {
		// A row whose time is spread before a time follows only rows that are older than that.
		p.first, err = p.search(tx, func(time int64) bool { return time+spread < s.Since })
	}
	if err == nil && s.Until != 0 {
		// A row whose time is spread after a time is followed only by rows that are younger.
		var after int64
		after, err = p.search(tx, func(time int64) bool { return time < s.Until+spread })
		p.last = min(p.last, after)
	}
	return p, err
}

func (p *plan) findClasses(tx *database.Tx) error {
	p.classes = []int64{unclassed}
	rows, err := tx.Query("SELECT id, members FROM audit_classes")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var members string
		if err := rows.Scan(&id, &members); err != nil {
			return err
		}
		var c class
		err := json.Unmarshal([]byte(members), &c)
		var r *stopgate.Record
		if err == nil {
			r, err = c.record()
		}
		if err != nil {
			return fmt.Errorf("class %d of audit rows: %w", id, err)
		}
		p.anyRule = p.anyRule || c.RuleID == ""
		if (p.Class == nil || p.Class(r)) && (p.Rules == nil || c.RuleID == "" || slices.Contains(p.Rules, c.RuleID)) {
			p.classes = append(p.classes, id)
		}
	}
	slices.Sort(p.classes)
	numbers := make([]string, len(p.classes))
	for i, id := range p.classes {
		numbers[i] = strconv.FormatInt(id, 10)
	}
	p.list = "[" + strings.Join(numbers, ",") + "]"
	return rows.Err()
}

// search returns the number after the last row that is found to be before, or the first number. Rows before that row need
// not be asked.
func (p *plan) search(tx *database.Tx, before func(time int64) bool) (int64, error) {
	low, high := p.first, p.last+1
	for low < high {
		middle := low + (high-low)/2
		var time int64
		found, err := tx.Get([]any{&time}, "SELECT time FROM audit_rows WHERE seq >= ? ORDER BY seq LIMIT 1", middle)
		if err != nil {
			return 0, err
		}
		if found && before(time) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// found is a row that a statement found.
type found struct {
	seq    int64
	stored auditrow.Stored
	line   []byte // set by expand
}

func (r *found) expand(names compact.Names) { r.line = r.stored.Line(r.seq, names) }

// scanRows reads rows in the order of their numbers, or the other way round. Rows of earlier versions are all selected.
const (
	scanRows = "SELECT seq, stored FROM audit_rows NOT INDEXED WHERE seq >= ?1 AND seq <= ?2 AND time >= ?3 AND time < ?4 AND " +
		"(?5 = '' OR class IS NULL OR class IN (SELECT value FROM json_each(?5))) ORDER BY seq LIMIT ?6"
	scanBack = "SELECT seq, stored FROM audit_rows NOT INDEXED WHERE seq >= ?1 AND seq <= ?2 AND time >= ?3 AND time < ?4 AND " +
		"(?5 = '' OR class IS NULL OR class IN (SELECT value FROM json_each(?5))) ORDER BY seq DESC LIMIT ?6"
	newestOfClass = "SELECT seq, stored FROM audit_rows INDEXED BY audit_class WHERE class = ? AND seq >= ? AND seq <= ? AND time >= ? AND time < ? ORDER BY seq DESC LIMIT ?"
	newestOfOwner = "SELECT seq, stored FROM audit_rows INDEXED BY audit_owner WHERE owner = ? AND class = ? AND seq >= ? AND seq <= ? AND time >= ? AND time < ? ORDER BY seq DESC LIMIT ?"
	rowsOfOwner   = "SELECT seq FROM audit_rows INDEXED BY audit_owner WHERE owner = ? AND seq >= ? AND seq <= ?"
	rowsByNumber  = "SELECT r.seq, r.stored FROM json_each(?) n JOIN audit_rows r ON r.seq = n.value ORDER BY r.seq"
)

func (p *plan) since() int64 { return cmp.Or(p.Since, math.MinInt64) }
func (p *plan) until() int64 { return cmp.Or(p.Until, math.MaxInt64) }

// queryRows reads the rows that a statement finds.
func queryRows(tx *database.Tx, list []found, text string, args ...any) ([]found, error) {
	rows, err := tx.Query(text, args...)
	if err != nil {
		return list, err
	}
	defer rows.Close()
	for rows.Next() {
		var r found
		if err := rows.Scan(&r.seq, (*[]byte)(&r.stored)); err != nil {
			return list, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}
