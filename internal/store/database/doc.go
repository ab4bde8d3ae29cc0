// Package database stores tables in one SQLite file that several processes write to, and makes many
// small changes durable with few syncs.
//
//	db, err := database.Open(ctx, "stopgate.db", database.Component{Name: "audit", Migrations: migrations})
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	err = db.Change(ctx, func(tx *database.Tx) error {
//		_, err := tx.Exec("INSERT INTO audit_rows(line) VALUES(?)", line)
//		return err
//	})
//
// Guarantees (I22, FM2, FM4):
//
//   - [DB.Change] returns nil only after its writes are synced to the disk. Concurrent changes
//     share one transaction and one sync.
//   - A change sees everything that earlier changes wrote, in this process and in others, and
//     is the only writer while it runs. A change that fails is rolled back and does not
//     affect the changes that share its transaction.
//   - Waiting for another process ends with the caller's ctx and an error. Waiting processes
//     write in the order in which they arrived.
//   - After a failed sync, or if the file is damaged, removed or replaced, all further changes
//     fail: see [DB.Failed].
//   - A file of another program, or of a newer version of this one, is refused.
//
// The file has mode 0600 and belongs on a local disk: SQLite's locks do not work on every network
// file system.
package database
