// Package auditlog writes the gate's audit rows to a recorder.
//
//	w := auditlog.New(auditlog.Config{Record: recorder.Record, Limit: time.Second, Now: time.Now})
//	if w.Write(ctx, &row) != nil {
//		deny() // an allowed call is released only after its row is durable (I22)
//	}
//
// A row that cannot be written is spooled as a denial if the recorder has a spool, or counted
// as lost. While rows are missing, the next row waits until a row with their number, the gap,
// is on record (FM4).
package auditlog
