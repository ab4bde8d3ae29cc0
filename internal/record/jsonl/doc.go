// Package jsonl keeps audit rows in a file of JSON lines, one hash chain to a
// log.
//
//	rec, err := jsonl.Open("audit.jsonl", jsonl.Options{})
//	if err != nil {
//		return err
//	}
//	defer rec.Close()
//	g, err := gate.New(program, gate.WithRecorder(rec))
//
// What it promises (I22, FM4):
//
//   - [Recorder.Record] returns nil only after the row is synced to the disk. Calls
//     that come together share one sync.
//   - After a crash the file is a valid chain with every acknowledged row in it.
//     What the last write left unfinished is removed at the next Open, which writes
//     an event row torn_tail about it.
//   - A file whose chain is broken in any other way is refused.
//   - With [Options.RotateBytes] or RotateAge a full file gets another name and the log
//     goes on in a new one; together they stay one chain (see [Segments]).
//   - One writer: a second one, in this process or another, is refused.
//   - A sync that fails is believed once and for all: the file gets no further row
//     and is set aside under another name. A disk that is full only fails the rows
//     that do not fit.
//
// The file has mode 0600.
package jsonl
