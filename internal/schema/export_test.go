package schema

// Fold exports fold.
func Fold(key []byte) string { return fold(key) }
