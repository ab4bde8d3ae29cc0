package occur

// Secrets calls each for the pieces of the words of a text that look like a secret: any part of one
// with 16 letters and digits has a piece. A piece is valid until each returns.
func Secrets(text []byte, each func(piece []byte)) {}

// Pieces calls each for everything in a value that can be a piece of a secret.
func Pieces(value []byte, each func(piece []byte)) {}
