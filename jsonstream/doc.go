// Package jsonstream reads JSON strictly, also while it is still arriving.
//
// A [Parser] takes text in chunks of any size and tells a [Handler] what it
// learns at the byte that shows it: the push tokenizer that streaming policies
// stand on (F043). An [Aggregator] is a handler that writes the judged value
// again in our own spelling; it is the only source of the arguments that run
// (F043-08). A [Document] is a whole text scanned in one pass, as provider
// events and requests are.
//
//	var args jsonstream.Aggregator
//	p := jsonstream.NewParser(&args, jsonstream.Options{ObjectRoot: true})
//	for chunk := range chunks {
//		if err := p.Feed(chunk); err != nil {
//			return err // *Error: a stable code, a byte offset, a pointer
//		}
//	}
//	if err := p.Close(); err != nil {
//		return err
//	}
//	path, ok := args.Document().Root().Get("path")
//
// What the package promises:
//
//   - Accepted is exactly RFC 8259 in valid UTF-8 without a byte order mark,
//     without lone surrogates and without a repeated key in any object, keys
//     compared after unescaping (INVARIANTS I7), within the limits of [Options].
//     Nothing is repaired and there is no lenient mode.
//   - Events, offsets and errors do not depend on how the text was cut into
//     chunks (I2), except that a run of string text is reported in pieces: their
//     concatenation and the offset of each of their bytes do not depend on it.
//   - An error is final. It is reported at the first byte that shows it, after
//     everything that was known before that byte.
//   - Numbers are kept as literals and compared exactly as [Decimal] (I10).
//   - Memory is proportional to the depth plus the keys of the open objects for
//     a Parser, to the text for an Aggregator and a Document. Time is linear in
//     the text, whatever the keys are; reused values do not allocate.
//
// Offsets count argument bytes from 1: offset n means "decided by the nth byte",
// 0 means before any byte (DECISIONS K16).
package jsonstream
