package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/store/location"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
)

// server is a log in a PostgreSQL database.
type server struct{ db *pgdb.DB }

func atServer(at string, _ []byte) bool { return location.Server(at) == "postgres" }

func openServer(ctx context.Context, url string) (source, error) {
	db, err := pgdb.Open(ctx, url, postgres.Tables)
	if err != nil {
		return nil, err
	}
	return &server{db}, nil
}

func (s *server) close() error { return s.db.Close() }

// selection returns the part of a filter that columns answer.
func selection(f *Filter) postgres.Selection {
	s := postgres.Selection{
		Gate: f.Gate, Session: string(f.Session), Agent: string(f.Agent), Principal: string(f.Principal), Surface: string(f.Surface), Rules: words(f.Rules), Decisions: f.Decisions,
		Codes: words(f.Codes), Status: words(f.Status), Events: words(f.Events),
	}
	if f.Tool != nil {
		prefix, exact := f.Tool.LiteralPrefix()
		if s.ToolPrefix = prefix; exact {
			s.Tools, s.ToolPrefix = []string{prefix}, ""
		}
	}
	for _, m := range f.Modes {
		s.Modes = append(s.Modes, int16(m))
	}
	if !f.Since.IsZero() {
		s.Since = f.Since.UnixMicro()
	}
	if !f.Until.IsZero() {
		s.Until = f.Until.UnixMicro() + 1 // columns have no parts of a microsecond
	}
	return s
}

func words[T ~string](list []T) (words []string) {
	for _, w := range list {
		words = append(words, string(w))
	}
	return words
}

func (s *server) lines(ctx context.Context, after Mark, filter *Filter, f func(line []byte) bool) (Mark, error) {
	end, err := postgres.Lines(ctx, s.db, after.seqs, selection(filter), f)
	return Mark{end}, err
}

func (s *server) chain(ctx context.Context, id string, after int64, f func(line []byte) bool) error {
	chains, err := postgres.Chains(ctx, s.db)
	for _, c := range chains {
		if c.Chain == id {
			return postgres.ChainLines(ctx, s.db, c.Number, after, func(l postgres.Line) bool { return f(l.Text) })
		}
	}
	return err
}

func (s *server) newest(ctx context.Context, n int64, filter *Filter) (lines [][]byte, end Mark, err error) {
	sel := selection(filter)
	if filter.Tool != nil && sel.Tools == nil {
		// A glob selects tools, and of each the newest rows are found without reading others.
		names, ok, err := postgres.ToolNames(ctx, s.db)
		if err != nil {
			return nil, end, err
		}
		if ok {
			sel.ToolPrefix, sel.Tools = "", slices.DeleteFunc(names, func(name string) bool { return !filter.Tool.Match(name) })
		}
	}
	lines, end.seqs, err = postgres.NewestLines(ctx, s.db, n, sel, filter.accept)
	return lines, end, err
}

func (s *server) of(ctx context.Context, id stopgate.ProposalID) (list [][]byte, err error) {
	lines, err := postgres.Of(ctx, s.db, id)
	for _, l := range lines {
		list = append(list, l.Text)
	}
	return list, err
}

func (s *server) heads(ctx context.Context) (heads []Head, err error) {
	chains, err := postgres.Chains(ctx, s.db)
	for _, c := range chains {
		heads = append(heads, Head{c.Head, c.Gate})
	}
	return heads, err
}

func (s *server) verify(ctx context.Context, c *Check) error {
	chains, err := postgres.Chains(ctx, s.db)
	if err != nil {
		return err
	}
	for _, chain := range chains {
		result, err := s.verifyChain(ctx, chain, c)
		if err != nil {
			return err
		}
		c.Chains = append(c.Chains, result)
	}
	foreign, err := postgres.ForeignRows(ctx, s.db)
	if err != nil {
		return err
	}
	for _, number := range foreign {
		c.Chains = append(c.Chains, ChainCheck{Err: fmt.Errorf("rows of a chain with the number %d, which is not in the list of chains", number)})
	}
	c.Changed, err = postgres.ChangedArguments(ctx, s.db)
	return err
}

// verifyTries is how often a chain is read again because rows were pruned meanwhile.
const verifyTries = 3

// verifyChain verifies a chain. Its head is the one that was read before the rows.
func (s *server) verifyChain(ctx context.Context, chain postgres.Chain, c *Check) (result ChainCheck, err error) {
	for range verifyTries {
		var first int64
		v := audit.NewVerifier()
		var broken error
		end := ""
		err := postgres.ChainLines(ctx, s.db, chain.Number, 0, func(l postgres.Line) bool {
			if first == 0 {
				first = l.Seq
			}
			if broken = v.Row(append(l.Text, '\n')); broken != nil {
				return false
			}
			if last := checkpoint(l.Text); last != nil { // a row that was kept elsewhere may be the last pruned one
				c.found(audit.Head{Seq: last.Seq, Hash: last.Hash})
			}
			head := v.Report().Head
			if c.found(head); head.Seq == chain.Seq {
				end = head.Hash
			}
			return true
		})
		if err != nil {
			return result, err
		}
		result = ChainCheck{Report: v.Report(), Gate: chain.Gate, Err: broken}
		if broken == nil {
			result.Report, result.Err = v.End()
			result.Err = errors.Join(result.Err, headError(chain, result.Head.Seq, end))
		}
		if result.Head.Chain == "" {
			result.Head.Chain = chain.Chain
		}
		if result.Err == nil {
			return result, nil
		}
		now, err := postgres.FirstRow(ctx, s.db, chain.Number)
		if err != nil || now == first {
			return result, err
		}
	}
	return result, nil
}

// checkpoint returns the last pruned row if a line names one.
func checkpoint(line []byte) *stopgate.Checkpoint {
	if !bytes.Contains(line, []byte(`,"event":"`+string(stopgate.AuditCheckpoint)+`"`)) {
		return nil
	}
	r, err := parse(line)
	if err != nil {
		return nil
	}
	return r.Checkpoint
}

// headError compares the end of a chain with its head. hash is that of the row with the number of the
// head, "" if there is none.
func headError(chain postgres.Chain, last int64, hash string) error {
	switch {
	case hash == chain.Hash:
		return nil
	case last < chain.Seq:
		return fmt.Errorf("its rows end at %d, and row %d was written", last, chain.Seq)
	}
	return fmt.Errorf("row %d is not the one that was written", chain.Seq)
}

func (s *server) arguments(ctx context.Context, hash string) (Arguments, bool, error) {
	a, ok, err := postgres.ArgumentsOf(ctx, s.db, hash)
	return Arguments(a), ok, err
}

func (s *server) texts(ctx context.Context, id string) ([]flow.KeptText, error) {
	return postgres.TextsOf(ctx, s.db, id)
}

func (s *server) accept(context.Context, string, time.Time) (before, after audit.Head, err error) {
	return before, after, errors.New("records in PostgreSQL have their heads in the database: there is nothing to accept after a backup was restored; compare them with heads kept elsewhere: stopgate log verify --head")
}
