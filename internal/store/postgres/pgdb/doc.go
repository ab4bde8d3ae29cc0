// Package pgdb stores tables in a PostgreSQL database that several gates write to, and makes many
// small changes durable with few commits.
//
//	db, err := pgdb.Open(ctx, "postgres://gate@db.internal/stopgate?sslmode=verify-full", pgdb.Component{Name: "audit", Migrations: migrations})
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	err = db.Do(ctx, part)
//
// Guarantees (I19, I22, FM2, FM4):
//
//   - [DB.Do] returns nil only after the commit of the transaction of its [Part]. The parts that wait
//     are run together in one transaction of two round trips: the first one takes the locks and reads,
//     the second one writes and commits.
//   - A DB has one transaction of parts at a time, so that rows of which a gate is the only writer
//     need no lock.
//   - A part is run again, on fresh reads, only if it is known that nothing was committed. If the answer
//     to a commit is lost, the part may or may not have been written, and Do returns an error.
//   - Waiting, for the server or for the locks of another gate, ends with the context of the caller.
//     Locks of a gate that was suspended are released by the server: see [IdleTimeout].
//   - A database of a newer version is refused, also if it became newer while it was open.
//
// Isolation is READ COMMITTED. That suffices because a part writes only rows that depend on a row
// that it has locked, and because it reads them by statements that begin after that lock was taken:
// under READ COMMITTED each statement sees what was committed before it began. SERIALIZABLE would
// give the same result with more transactions that fail.
//
// Names and keys are bytea, because those of stopgate may have any bytes. Errors contain the
// address of the database without its password.
package pgdb
