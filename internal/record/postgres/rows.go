package postgres

import (
	"bytes"
	"slices"
	"time"
)

// rows are the columns of the rows of a transaction, which are written by one statement.
type rows struct {
	seq, time                           []int64
	final                               []bool
	event, surface, status, code        []*string
	id, session, principal, agent, tool [][]byte
	rule                                [][]byte
	mode                                []*int16
	line                                [][]byte

	decisions [][]byte
	arguments []*Entry
}

func (w *rows) add(seq int64, line []byte, e *Entry) {
	w.seq, w.time, w.final, w.line = append(w.seq, seq), append(w.time, e.time), append(w.final, e.final), append(w.line, line)
	w.event, w.surface, w.status = append(w.event, e.event), append(w.surface, e.surface), append(w.status, e.status)
	w.code, w.rule, w.mode = append(w.code, e.code), append(w.rule, e.rule), append(w.mode, e.mode)
	w.id, w.session, w.principal = append(w.id, e.id), append(w.session, e.session), append(w.principal, e.principal)
	w.agent, w.tool = append(w.agent, e.agent), append(w.tool, e.tool)
	if e.final && e.id != nil {
		w.decisions = append(w.decisions, e.id)
	}
	if e.hash != nil {
		w.arguments = append(w.arguments, e)
	}
}

const (
	insertRows = "INSERT INTO records(written, chain, seq, time, final, event, id, session, principal, agent, surface, tool, mode, status, code, rule_id, packed) " +
		"SELECT $1, $2, * FROM unnest($3::bigint[], $4::bigint[], $5::boolean[], $6::text[], $7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[], " +
		"$11::text[], $12::bytea[], $13::smallint[], $14::text[], $15::text[], $16::bytea[], $17::bytea[])"
	insertDecisions = "INSERT INTO record_decisions(id, written) SELECT unnest($1::bytea[]), $2"
	moveHead        = "UPDATE record_chains SET seq = $2, hash = $3, written = $4, ahead = greatest(ahead, $5), behind = greatest(behind, $6) WHERE number = $1"
	// insertArguments updates the time of repeated arguments once an hour: they may be pruned an
	// hour early.
	insertArguments = "INSERT INTO record_arguments AS a (hash, chain, time, redacted, text) " +
		"SELECT h, $1, t, r, x FROM unnest($2::bytea[], $3::bigint[], $4::text[], $5::bytea[]) AS u(h, t, r, x) " +
		"ON CONFLICT(hash, chain) DO UPDATE SET time = excluded.time WHERE a.time < excluded.time - $6"
)

// renewAfter is the age, in microseconds, at which the time of repeated arguments is updated.
const renewAfter = int64(time.Hour / time.Microsecond)

// flush queues the writes of all rows of the transaction. now is the time of the database.
func (t *chainEnd) flush(queue func(query string, args ...any), now time.Time) {
	w := &t.rows
	if len(w.seq) == 0 {
		return
	}
	// Never before the rows that are there: the clock of the database may have been set back.
	t.written = max(t.written, now.UnixMicro())
	queue(insertRows, t.written, t.chain.number, w.seq, w.time, w.final, w.event, w.id, w.session, w.principal, w.agent,
		w.surface, w.tool, w.mode, w.status, w.code, w.rule, w.line)
	if len(w.decisions) > 0 {
		queue(insertDecisions, w.decisions, t.written)
	}
	queue(moveHead, t.chain.number, t.head.Seq, t.head.Hash, t.written, slices.Max(w.time)-t.written, t.written-slices.Min(w.time))
	if len(w.arguments) > 0 {
		queue(insertArguments, w.keptArguments(t.chain.number)...)
	}
}

// keptArguments returns the arguments of insertArguments: those of the newest row of each hash, since
// one statement cannot write a row twice.
func (w *rows) keptArguments(chain int32) []any {
	slices.SortStableFunc(w.arguments, func(a, b *Entry) int { return bytes.Compare(a.hash, b.hash) })
	var hashes, texts [][]byte
	var times []int64
	var redacted []*string
	for i, e := range w.arguments {
		if i+1 < len(w.arguments) && bytes.Equal(w.arguments[i+1].hash, e.hash) {
			continue
		}
		hashes, texts, times, redacted = append(hashes, e.hash), append(texts, e.args), append(times, e.time), append(redacted, e.redacted)
	}
	return []any{chain, hashes, times, redacted, texts, renewAfter}
}
