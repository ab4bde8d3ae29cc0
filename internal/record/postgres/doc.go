// Package postgres writes audit rows to a PostgreSQL database that several gates share, one hash
// chain per gate, and stores the arguments that the rows only hash.
//
//	db, err := pgdb.Open(ctx, "postgres://gate@db.internal/stopgate", postgres.Tables)
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	rec, err := postgres.New(db, postgres.Options{Gate: "gate-1", Arguments: audit.KeepFull})
//	if err != nil {
//		return err
//	}
//	g, err := gate.New(program, gate.WithRecorder(rec))
//
// Guarantees (I22, I23):
//
//   - [Recorder.Record] returns nil only after the commit of the row, and [Recorder.Write] adds the
//     row to a transaction of the caller (S25).
//   - A proposal has one decision row in the database, whichever gates decide about it: a unique
//     index refuses a second one.
//   - The head of a chain is a row of its own, which every writer locks before it appends, so that
//     rows follow each other whoever writes them. Verification compares the rows with the head, and
//     finds rows that are missing at the end.
//   - [Recorder.Prune] drops the partitions of old months and adds a checkpoint to each chain that had
//     rows in them. Arguments have their own retention, and removing them changes no row (S13).
//
// A process uses a chain that no living process uses, preferably one of its gate: an advisory lock
// of the writing session marks it as used. The lock only prevents waiting; it is not needed for the
// integrity of the chain.
package postgres
