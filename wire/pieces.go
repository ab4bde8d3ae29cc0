package wire

import (
	"bytes"
	"unicode/utf8"
)

// PieceSize is the most argument text that one event of ours carries (WIRE 2.6).
const PieceSize = 32 << 10

// NextPiece cuts the next piece off a released text: at most PieceSize bytes,
// and never inside a UTF-8 sequence. The piece is empty only if the text is.
func NextPiece(text []byte) (piece, rest []byte) {
	if len(text) <= PieceSize {
		return text, nil
	}
	n := PieceSize
	for i := 0; i < utf8.UTFMax-1 && !utf8.RuneStart(text[n]); i++ {
		n--
	}
	return text[:n], text[n:]
}

// NextQuotedPiece is NextPiece for the inside of a JSON string as our encoder
// writes it: a piece ends inside of no escape either.
func NextQuotedPiece(inside []byte) (piece, rest []byte) {
	if len(inside) <= PieceSize {
		return inside, nil
	}
	piece, _ = NextPiece(inside)
	const longest = len(`\u001f`)
	n := len(piece)
	if i := bytes.LastIndexByte(piece[n-longest+1:], '\\'); i >= 0 {
		at, run := n-longest+1+i, 1
		for run <= at && piece[at-run] == '\\' {
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
