package inspect

import (
	"context"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Rules with `when = { session = ... }` look at the data that the session had when the
// call was opened (K60). Records do not hold it, but the store does, as a
// value and as the facts by which it was set.

// dataThen returns the session's data at the time of a recorded call; ok is false where it is
// not known: there is no store here, or the data was set in the same millisecond.
func dataThen(ctx context.Context, settings place.Settings, r *stopgate.Record) (data jsonstream.Value, ok bool, err error) {
	opened, known := openedAt(r.ID)
	if !known || r.Session == "" || settings.Store == place.Memory {
		return data, false, nil
	}
	if !settings.Exists() {
		return data, false, nil
	}
	s, err := settings.Open(ctx)
	if err != nil {
		return data, false, err
	}
	defer s.Close()
	o := session.Owner{Principal: r.Principal, Session: r.Session}
	state, err := s.Load(ctx, o, []session.Key{session.DataKey})
	if err != nil {
		return data, false, err
	}
	cell, _ := state.Cell(session.DataKey)
	text := cell.Text
	if cell.At >= opened { // it was set since: the facts have the older value
		t, err := dataBefore(func(after uint64) ([]session.Fact, error) { return s.Facts(ctx, o, after, 1000) }, opened)
		switch {
		case err != nil, t.at == opened:
			return data, false, err
		case t.at > 0:
			text = t.text
		case t.later == 1 && cell.Was != nil: // older facts are pruned, their text is kept
			text = cell.Was.Text
		default:
			return data, false, nil
		}
	}
	if text == "" {
		text = "{}"
	}
	data, err = jsonstream.Parse([]byte(text), jsonstream.Options{})
	return data, err == nil, err
}

// pastData is the newest data up to a time, when it was set, and how often it was set later.
type pastData struct {
	at    int64
	text  string
	later int
}

func dataBefore(read func(after uint64) ([]session.Fact, error), until int64) (t pastData, err error) {
	after := uint64(0)
	for {
		facts, err := read(after)
		if err != nil || len(facts) == 0 {
			return t, err
		}
		for _, f := range facts {
			switch {
			case f.Kind != session.DataReplaced:
			case f.At <= until:
				t.at, t.text = f.At, f.Text
			default:
				t.later++
			}
		}
		after = facts[len(facts)-1].Seq
	}
}

// crockford is the alphabet of ULIDs.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// openedAt reads the time in Unix milliseconds out of a proposal's id (S23).
func openedAt(id stopgate.ProposalID) (ms int64, ok bool) {
	if len(id) != 26 {
		return 0, false
	}
	for _, c := range []byte(id[:10]) {
		digit := strings.IndexByte(crockford, c)
		if digit < 0 {
			return 0, false
		}
		ms = ms<<5 | int64(digit)
	}
	return ms, ms < time.Now().Add(24*time.Hour).UnixMilli()
}
