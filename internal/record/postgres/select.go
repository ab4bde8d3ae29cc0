package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
)

// Selection selects rows. A zero field selects all. It selects at least the rows that it describes:
// columns may have another form of a text than the line.
type Selection struct {
	Gate                               string
	Session, Agent, Principal, Surface string
	Tool, ToolPrefix                   string // a name, and the begin of names
	Modes                              []int16
	Codes, Status, Events              []string
	Decisions                          bool
	Since, Until                       int64 // by the times in the rows
}

// where returns the condition and its arguments, which are appended to args.
func (s *Selection) where(args []any) (string, []any) {
	var b strings.Builder
	add := func(condition string, value any) {
		args = append(args, value)
		fmt.Fprintf(&b, " AND "+condition, len(args))
	}
	if s.Gate != "" {
		add("chain IN (SELECT number FROM record_chains WHERE gate = $%d)", []byte(s.Gate))
	}
	for column, value := range map[string]string{"session": s.Session, "agent": s.Agent, "principal": s.Principal, "tool": s.Tool} {
		if value != "" {
			add(column+" = $%d", []byte(value))
		}
	}
	if s.ToolPrefix != "" {
		add("tool >= $%d", []byte(s.ToolPrefix))
		if end := after(s.ToolPrefix); end != nil {
			add("tool < $%d", end)
		}
	}
	if s.Surface != "" {
		add("surface = $%d", *text(s.Surface))
	}
	if s.Modes != nil {
		add("final AND mode = ANY($%d)", s.Modes)
	}
	for column, values := range map[string][]string{"code": s.Codes, "status": s.Status, "event": s.Events} {
		if values != nil {
			list := make([]string, len(values))
			for i, v := range values {
				if v != "" {
					list[i] = *text(v)
				}
			}
			add(column+" = ANY($%d)", list)
		}
	}
	if s.Decisions {
		b.WriteString(" AND final")
	}
	if s.Since != 0 {
		add("time >= $%d", s.Since)
	}
	if s.Until != 0 {
		add("time < $%d", s.Until)
	}
	return b.String(), args
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
			sql := "SELECT r.chain, r.seq, r.line, r.written FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) AS c(number, after, until), " +
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
		return query(ctx, db, "SELECT chain, seq, line, written FROM records WHERE written >= $1 AND (written, chain, seq) > ($1, $2, $3)"+where+
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
	if err != nil {
		return nil, nil, err
	}
	end = map[string]int64{}
	heads := map[int32]int64{}
	for _, c := range list {
		end[c.Chain], heads[c.Number] = c.Seq, c.Seq
	}
	size := min(max(n, 1), page)
	last := Line{Chain: 1<<31 - 1, Seq: 1<<63 - 1, written: 1<<63 - 1}
	for int64(len(lines)) < n {
		where, args := s.where([]any{last.written, last.Chain, last.Seq, size})
		found, err := query(ctx, db, "SELECT chain, seq, line, written FROM records WHERE written <= $1 AND (written, chain, seq) < ($1, $2, $3)"+where+
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
