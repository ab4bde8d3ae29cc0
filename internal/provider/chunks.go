package provider

import (
	"bytes"
	"unicode/utf8"
)

// ChunkSize is the maximum number of argument bytes that one event written by the gate
// carries.
const ChunkSize = 32 << 10

// NextChunk splits the next chunk off text: at most ChunkSize bytes that do not end inside
// a UTF-8 sequence. The chunk is empty only if text is empty.
func NextChunk(text []byte) (chunk, rest []byte) {
	if len(text) <= ChunkSize {
		return text, nil
	}
	n := ChunkSize
	for i := 0; i < utf8.UTFMax-1 && !utf8.RuneStart(text[n]); i++ {
		n--
	}
	return text[:n], text[n:]
}

// NextQuotedChunk is like NextChunk for the inside of a JSON string that
// [jsonstream.AppendQuote] wrote: the chunk does not end inside an escape either.
func NextQuotedChunk(inside []byte) (chunk, rest []byte) {
	if len(inside) <= ChunkSize {
		return inside, nil
	}
	chunk, _ = NextChunk(inside)
	const longest = len(`\u001f`)
	n := len(chunk)
	if i := bytes.LastIndexByte(chunk[n-longest+1:], '\\'); i >= 0 {
		at, run := n-longest+1+i, 1
		for run <= at && chunk[at-run] == '\\' {
			run++
		}
		length := 2
		if at+1 < len(inside) && inside[at+1] == 'u' {
			length = longest
		}
		if run%2 == 1 && at+length > n {
			n = at
		}
	}
	return inside[:n], inside[n:]
}
