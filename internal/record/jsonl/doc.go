// Package jsonl writes audit rows to a file of JSON lines, one hash chain per log.
//
//	rec, err := jsonl.Open("audit.jsonl", jsonl.Options{})
//	if err != nil {
//		return err
//	}
//	defer rec.Close()
//	g, err := gate.New(program, gate.WithRecorder(rec))
//
// Guarantees (I22, FM4):
//
//   - [Recorder.Record] returns nil only after the row is synced to the disk. Concurrent calls
//     share one sync.
//   - After a crash the file is a valid chain with every acknowledged row. The next Open
//     removes an unfinished write from its end and writes an event row torn_tail.
//   - A file whose chain is broken in any other way is refused.
//   - With [Options.RotateBytes] or RotateAge a full file is renamed and the log continues in
//     a new one; together they are one chain (see [Segments]).
//   - There is one writer: a second one, in this process or another, is refused.
//   - After a failed sync the file gets no further row and is renamed. A full disk fails only
//     the rows that do not fit.
//
// The file has mode 0600.
package jsonl
