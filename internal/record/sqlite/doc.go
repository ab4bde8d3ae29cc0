// Package sqlite keeps audit rows in an SQLite file that several processes share,
// one hash chain to a file, and beside them the arguments that the rows only hash.
//
//	db, err := database.Open(ctx, "stopgate.db", sqlite.Tables)
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	rec, err := sqlite.New(ctx, db, sqlite.Options{Arguments: audit.KeepFull})
//	if err != nil {
//		return err
//	}
//	g, err := gate.New(program, gate.WithRecorder(rec))
//
// What it promises (I22, I23):
//
//   - [Recorder.Record] returns nil only after the row is on the disk, and
//     [Recorder.Write] puts it into the transaction of whoever writes more than the
//     row (S25).
//   - A proposal has one decision row: the table has no room for a second.
//   - [Recorder.Prune] removes old rows from the start of the chain and leaves a checkpoint
//     in it; arguments go by an age of their own, and no row changes for it (S13).
package sqlite
