// Package sqlite writes audit rows to an SQLite file that several processes share, one hash chain
// per file, and stores the arguments that the rows only hash.
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
// Guarantees (I22, I23):
//
//   - [Recorder.Record] returns nil only after the row is on the disk, and [Recorder.Write]
//     adds it to a transaction of the caller (S25).
//   - A proposal has one decision row: a unique index refuses a second one.
//   - [Recorder.Prune] removes old rows from the start of the chain and adds a checkpoint to
//     it. Arguments have their own retention, and removing them changes no row (S13).
package sqlite
