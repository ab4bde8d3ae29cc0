package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
)

// Selection selects rows. A zero field selects all. It selects at least the rows that it describes:
// columns may have another form of a text than the line.
type Selection struct {
	Gate, Session, Agent, Principal, Surface string

	Rules []string // by their ids

	Tools      []string
	ToolPrefix string // of further names

	Modes                 []int16
	Codes, Status, Events []string
	Decisions             bool

	Since, Until int64 // by the times in the rows
}

// conditions are joined by AND, and have arguments.
type conditions struct {
	text strings.Builder
	args []any
}

// add adds a condition with the number of its argument as %[1]d.
func (c *conditions) add(condition string, value any) {
	c.args = append(c.args, value)
	fmt.Fprintf(&c.text, " AND "+condition, len(c.args))
}

// one adds a condition on one of several values. Only a single one, unlike a list, can be found in the
// order of an index.
func one[T any](c *conditions, column string, values []T) {
	if len(values) == 1 {
		c.add(column+" = $%[1]d", values[0])
	} else {
		c.add(column+" = ANY($%[1]d)", values)
	}
}

// where returns the condition and its arguments, which are appended to args.
func (s *Selection) where(args []any) (string, []any) {
	c := &conditions{args: args}
	if s.Gate != "" {
		c.add("chain IN (SELECT number FROM record_chains WHERE gate = $%[1]d)", []byte(s.Gate))
	}
	for column, value := range map[string]string{"session": s.Session, "agent": s.Agent, "principal": s.Principal} {
		if value != "" {
			c.add(column+" = $%[1]d", []byte(value))
		}
	}
	if s.Tools != nil {
		one(c, "tool", names(s.Tools))
	}
	if s.ToolPrefix != "" {
		c.add("tool >= $%[1]d", []byte(s.ToolPrefix))
		if end := after(s.ToolPrefix); end != nil {
			c.add("tool < $%[1]d", end)
		}
	}
	if s.Rules != nil {
		one(c, "rule_id", names(s.Rules))
	}
	if s.Surface != "" {
		c.add("surface = $%[1]d", *text(s.Surface))
	}
	if s.Modes != nil {
		c.text.WriteString(" AND final")
		one(c, "mode", s.Modes)
	}
	for column, values := range map[string][]string{"code": s.Codes, "status": s.Status, "event": s.Events} {
		if values != nil {
			one(c, column, texts(values))
		}
	}
	if s.Decisions {
		c.text.WriteString(" AND final")
	}
	if s.Since != 0 {
		c.add("time >= $%[1]d AND written >= $%[1]d - (SELECT coalesce(max(ahead), 0) FROM record_chains)", s.Since)
	}
	if s.Until != 0 {
		c.add("time < $%[1]d AND written < $%[1]d + (SELECT coalesce(max(behind), 0) FROM record_chains)", s.Until)
	}
	return c.text.String(), c.args
}

// ofEarlier adds to the rules the id in rows of earlier versions, "", if there are any: one rule alone is found in the order of
// the index.
func (s *Selection) ofEarlier(ctx context.Context, db *pgdb.DB) error {
	if s.Rules == nil {
		return nil
	}
	var earlier bool
	err := db.Read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM records WHERE rule_id = '')").Scan(&earlier)
	})
	if err != nil {
		return fmt.Errorf("read the rules of audit rows: %w", err)
	}
	s.Rules = slices.Compact(slices.Sorted(slices.Values(s.Rules)))
	if earlier {
		s.Rules = append(s.Rules, "")
	}
	return nil
}

func names(list []string) (names [][]byte) {
	for _, name := range list {
		names = append(names, []byte(name))
	}
	return names
}

func texts(list []string) (texts []string) {
	for _, v := range list {
		if t := text(v); t != nil {
			v = *t
		}
		texts = append(texts, v)
	}
	return texts
}

// after returns the first of the byte strings that follow all that begin with a prefix, nil without
// one.
func after(prefix string) []byte {
	end := []byte(prefix)
	for n := len(end); n > 0; n-- {
		if end[n-1]++; end[n-1] != 0 {
			return end[:n]
		}
	}
	return nil
}

// Lines calls f with the lines of all chains that are selected, by the time at which they were
// written, until f returns false. after has the numbers of the rows to begin after, by the id of
// their chain. It returns the numbers of the last rows.
func Lines(ctx context.Context, db *pgdb.DB, after map[string]int64, s Selection, f func(line []byte) bool) (end map[string]int64, err error) {
	list, err := Chains(ctx, db)
	if err == nil {
		err = s.ofEarlier(ctx, db)
	}
	if err != nil {
		return after, err
	}
	end = map[string]int64{}
	var numbers []int32
	var from, to []int64
	for _, c := range list {
		end[c.Chain] = c.Seq
		if c.Seq > after[c.Chain] {
			numbers, from, to = append(numbers, c.Number), append(from, after[c.Chain]), append(to, c.Seq)
		}
	}
	if len(numbers) == 0 {
		return end, nil
	}
	if len(after) > 0 { // the new rows of each chain, as a log is followed
		where, args := s.where([]any{numbers, from, to, page})
		return end, pages(func(last Line) ([]Line, error) {
			sql := "SELECT r.chain, r.seq, r.packed, r.written FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) AS c(number, after, until), " +
				"LATERAL (SELECT * FROM records WHERE chain = c.number AND seq > c.after AND seq <= c.until" + where + ") r"
			more := args
			if last.Text != nil {
				more = append(slices.Clone(args), last.written, last.Chain, last.Seq)
				n := len(args)
				sql += fmt.Sprintf(" WHERE (r.written, r.chain, r.seq) > ($%d, $%d, $%d)", n+1, n+2, n+3)
			}
			return query(ctx, db, sql+" ORDER BY r.written, r.chain, r.seq LIMIT $4", more...)
		}, f)
	}
	heads := map[int32]int64{}
	for i, n := range numbers {
		heads[n] = to[i]
	}
	return end, pages(func(last Line) ([]Line, error) {
		where, args := s.where([]any{last.written, last.Chain, last.Seq, page})
		return query(ctx, db, "SELECT chain, seq, packed, written FROM records WHERE written >= $1 AND (written, chain, seq) > ($1, $2, $3)"+where+
			" ORDER BY written, chain, seq LIMIT $4", args...)
	}, f, func(l Line) bool { return l.Seq <= heads[l.Chain] })
}

// pages calls f with the lines of page after page that meet the conditions.
func pages(next func(last Line) ([]Line, error), f func(line []byte) bool, when ...func(Line) bool) error {
	var last Line
	for {
		lines, err := next(last)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if slices.ContainsFunc(when, func(is func(Line) bool) bool { return !is(l) }) {
				continue // written since: the next reader begins before it
			}
			if !f(l.Text) {
				return nil
			}
		}
		if len(lines) < page {
			return nil
		}
		last = lines[len(lines)-1]
	}
}

// NewestLines returns the newest n lines that are selected and that accept accepts, oldest first, and
// the numbers of the last rows of all chains.
func NewestLines(ctx context.Context, db *pgdb.DB, n int64, s Selection, accept func(line []byte) (bool, error)) (lines [][]byte, end map[string]int64, err error) {
	list, err := Chains(ctx, db)
	if err == nil {
		err = s.ofEarlier(ctx, db)
	}
	if err != nil {
		return nil, nil, err
	}
	end = map[string]int64{}
	heads := map[int32]int64{}
	for _, c := range list {
		end[c.Chain], heads[c.Number] = c.Seq, c.Seq
	}
	if (len(s.Tools) > 1 || len(s.Rules) > 1) && n <= page {
		lines, ok, err := newestOfEach(ctx, db, n, s, heads, accept)
		if err != nil || ok {
			return lines, end, err
		}
	}
	size := min(max(n, 1), page)
	last := Line{Chain: 1<<31 - 1, Seq: 1<<63 - 1, written: 1<<63 - 1}
	for int64(len(lines)) < n {
		where, args := s.where([]any{last.written, last.Chain, last.Seq, size})
		found, err := query(ctx, db, "SELECT chain, seq, packed, written FROM records WHERE written <= $1 AND (written, chain, seq) < ($1, $2, $3)"+where+
			" ORDER BY written DESC, chain DESC, seq DESC LIMIT $4", args...)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range found {
			ok, err := accept(l.Text)
			if err != nil {
				return nil, nil, err
			}
			if ok && l.Seq <= heads[l.Chain] && int64(len(lines)) < n {
				lines = append(lines, l.Text)
			}
			last = l
		}
		if int64(len(found)) < size {
			break
		}
		size = page
	}
	slices.Reverse(lines)
	return lines, end, nil
}

// newestOfEach returns the newest n lines of several tools, or of several rules: of the newest of each. ok is false if
// accept rejects lines, so that there may be others.
func newestOfEach(ctx context.Context, db *pgdb.DB, n int64, s Selection, heads map[int32]int64, accept func(line []byte) (bool, error)) (lines [][]byte, ok bool, err error) {
	column, values := "tool", s.Tools
	if len(values) > 1 {
		s.Tools, s.ToolPrefix = nil, ""
	} else {
		column, values, s.Rules = "rule_id", s.Rules, nil
	}
	where, args := s.where([]any{names(values), n})
	found, err := query(ctx, db, "SELECT r.chain, r.seq, r.packed, r.written FROM unnest($1::bytea[]) AS v(value), LATERAL (SELECT * FROM records WHERE "+column+" = v.value"+where+
		" ORDER BY written DESC, chain DESC, seq DESC LIMIT $2) r ORDER BY r.written DESC, r.chain DESC, r.seq DESC LIMIT $2", args...)
	if err != nil {
		return nil, false, err
	}
	for _, l := range found {
		ok, err := accept(l.Text)
		if err != nil || !ok || l.Seq > heads[l.Chain] {
			return nil, false, err
		}
		lines = append(lines, l.Text)
	}
	slices.Reverse(lines)
	return lines, true, nil
}

// maxTools is the number of tools up to which their names are listed.
const maxTools = 1000

// toolNames finds the names of tools by skipping from one to the next in the index.
const toolNames = "WITH RECURSIVE found AS ((SELECT tool FROM records WHERE tool IS NOT NULL ORDER BY tool LIMIT 1) UNION ALL " +
	"SELECT (SELECT tool FROM records WHERE tool > f.tool ORDER BY tool LIMIT 1) FROM found f WHERE f.tool IS NOT NULL) " +
	"SELECT tool FROM found WHERE tool IS NOT NULL LIMIT $1"

// ToolNames returns the names of the tools in the rows; ok is false if there are too many.
func ToolNames(ctx context.Context, db *pgdb.DB) (list []string, ok bool, err error) {
	err = db.Read(ctx, func(tx pgx.Tx) error {
		found, err := tx.Query(ctx, toolNames, maxTools+1)
		if err != nil {
			return err
		}
		names, err := pgx.CollectRows(found, pgx.RowTo[[]byte])
		list = nil
		for _, name := range names {
			list = append(list, string(name))
		}
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read the names of tools: %w", err)
	}
	return list, len(list) <= maxTools, nil
}
