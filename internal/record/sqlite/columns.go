package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/database"
)

// columns are the columns by which a row is found. Nothing seals them: a changed one hides a row from those who filter.
type columns struct {
	time, final int64
	id          string
	owner       *int64
	class       *int64
	members     *string // of the class, nil if the file has no such class
}

// members are those of a line that its columns repeat.
type members struct {
	class
	Time    time.Time `json:"time"`
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Rule    struct {
		ID stopgate.RuleID `json:"id"`
	} `json:"rule"`
}

const (
	rowsWithColumns = "SELECT r.seq, r.stored, r.time, r.final, coalesce(r.id, ''), r.owner, r.class, c.members " +
		"FROM audit_rows r LEFT JOIN audit_classes c ON c.id = r.class WHERE r.seq > ? ORDER BY r.seq LIMIT ?"
	selectTimes = "SELECT newest, behind, old, converted FROM audit_chain"
)

// inspection compares rows with their columns.
type inspection struct {
	newest, behind, old, converted int64
	highest                        int64 // time of the rows so far
	classes                        map[string]class
}

// Inspect calls f with all sealed lines, oldest first, without their line ends, until f returns false. misfit is the reason why
// filters and reports may miss the row, "" if its columns fit it. f may keep the line.
func Inspect(ctx context.Context, db *database.DB, f func(seq int64, line []byte, misfit string) bool) error {
	n := inspection{highest: math.MinInt64, classes: map[string]class{}}
	type row struct {
		found
		columns
	}
	var rows []row
	var names Names
	after := int64(0)
	for more := true; more; {
		err := db.Snapshot(ctx, func(tx *database.Tx) error {
			rows = rows[:0]
			if _, err := tx.Get([]any{&n.newest, &n.behind, &n.old, &n.converted}, selectTimes); err != nil {
				return err
			}
			list, err := tx.Query(rowsWithColumns, after, page)
			if err != nil {
				return err
			}
			defer list.Close()
			for list.Next() {
				var r row
				if err := list.Scan(&r.seq, (*[]byte)(&r.stored), &r.time, &r.final, &r.id, &r.owner, &r.class, &r.members); err != nil {
					return err
				}
				rows = append(rows, r)
			}
			for i, in := 0, names.In(tx); i < len(rows); i++ {
				rows[i].expand(in)
			}
			return list.Err()
		})
		if err != nil {
			return fmt.Errorf("read audit rows: %w", err)
		}
		more = len(rows) == page
		for _, r := range rows {
			if !f(r.seq, r.line, n.misfit(r.seq, r.line, &r.columns)) {
				return nil
			}
			after = r.seq
		}
	}
	return nil
}

// misfit returns the difference between a row and its columns, or "".
func (n *inspection) misfit(seq int64, line []byte, c *columns) string {
	var r members
	if json.Unmarshal(line, &r) != nil {
		if c.class != nil && *c.class != unclassed {
			return "its members cannot be read, and it has a class"
		}
		return "" // read by every filter, which reports it
	}
	r.RuleID = cmp.Or(r.Rule.ID, noRule)
	at := r.Time.UnixMicro()
	n.highest = max(n.highest, at)
	final := int64(0)
	if (&Entry{class: r.class}).final() {
		final = 1
	}
	switch {
	case c.time != at:
		return fmt.Sprintf("its time is %s, and the column has %s", r.Time.Format(time.RFC3339Nano), time.UnixMicro(c.time).UTC().Format(time.RFC3339Nano))
	case n.highest-at > n.behind+newestStep:
		return fmt.Sprintf("it is %s before an earlier row, and the bound of times is %s",
			time.Duration(n.highest-at)*time.Microsecond, time.Duration(n.behind+newestStep)*time.Microsecond)
	case at > n.newest+newestStep:
		return fmt.Sprintf("its time %s is after the newest one", r.Time.Format(time.RFC3339Nano))
	case c.final != final:
		return fmt.Sprintf("its kind is %q, and the column final has %d", r.Kind, c.final)
	case readable(c.id) != r.ID:
		return fmt.Sprintf("its id is %q, and the column has %q", r.ID, c.id)
	}
	if c.class == nil {
		if seq > n.converted && seq <= n.old {
			return "" // of an earlier version: every filter reads it
		}
		return "it has no class"
	}
	owner := ownerOf(r.Session)
	if (owner == nil) != (c.owner == nil) || c.owner != nil && owner != *c.owner {
		return fmt.Sprintf("its session is %q, and the column owner is that of another one", r.Session)
	}
	if *c.class == unclassed {
		return "" // every filter reads it
	}
	return n.classMisfit(&r.class, *c.class, c.members)
}

func (n *inspection) classMisfit(of *class, id int64, text *string) string {
	if text == nil {
		return fmt.Sprintf("its class %d is not in the file", id)
	}
	c, known := n.classes[*text]
	if !known {
		if err := json.Unmarshal([]byte(*text), &c); err != nil {
			return fmt.Sprintf("its class %d cannot be read: %v", id, err)
		}
		n.classes[*text] = c
	}
	if c.RuleID == "" {
		c.RuleID = of.RuleID // of an earlier version
	}
	if c == *of {
		return ""
	}
	own, err := json.Marshal(of)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("its members are %s, and those of its class are %s", own, *text)
}

// readable returns a text as encoding/json reads it back, with a replacement for every byte that is not UTF-8.
func readable(s string) string { return string([]rune(s)) }
