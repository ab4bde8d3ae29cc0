// Package database keeps tables in one SQLite file that several processes write
// to, and makes many small changes durable with few syncs.
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
// What it promises (I22, FM2, FM4):
//
//   - [DB.Change] returns nil only after what the change wrote is synced to the
//     disk. Changes that come together share one transaction and one sync.
//   - A change sees everything that changes before it wrote, in this process and in
//     others, and nothing else writes while it runs. A change that fails leaves
//     nothing behind and takes no other change with it.
//   - Waiting for another process ends with the caller's ctx, never silently. Processes
//     that wait write in the order in which they came.
//   - After a sync that failed, a file that is damaged, removed or replaced, nothing
//     is written any more: see [DB.Failed].
//   - A file of another program, and one that a newer version wrote, is refused.
//
// The file has mode 0600 and belongs on a local disk: SQLite's locks do not hold on
// every network file system.
package database
