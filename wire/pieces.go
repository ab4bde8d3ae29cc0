package wire

import "unicode/utf8"

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
