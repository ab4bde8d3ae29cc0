// Package jsonstream parses JSON strictly, also while the text is still arriving.
//
// A [Parser] accepts text in chunks of any size and reports its values to a [Handler], each
// at the first byte that shows it. An [Aggregator] is a handler that writes the parsed value
// again in one encoding; it is the only source of the arguments that run (F043-08). A
// [Document] is a complete text that was scanned in one pass, such as a provider event or a
// request.
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
// The package guarantees:
//
//   - It accepts exactly RFC 8259 in valid UTF-8 without a byte order mark, without lone surrogates and without a repeated key in any object, within the limits of [Options] (I7). Keys are compared after unescaping. There is no repair and no lenient mode.
//   - Events, offsets and errors do not depend on how the text was split into chunks (I2). A run of string text may be reported in several parts; their concatenation and the offset of each byte do not depend on the split.
//   - An error is final. It is reported at the first byte that shows it, after everything that was known before that byte.
//   - Numbers are kept as literals and compared exactly as [Decimal] (I10).
//   - Memory is proportional to the depth plus the keys of the open objects for a Parser, and to the text for an Aggregator and a Document. Time is linear in the text for every choice of keys. Reused values do not allocate.
//
// Offsets count argument bytes from 1: offset n means "decided by the nth byte", 0 means
// before any byte (K16).
//
// Read event.go, parser.go and aggregate.go first, then strings.go, numbers.go and keys.go;
// document.go, scan.go and value.go are the counterpart for complete texts.
package jsonstream
