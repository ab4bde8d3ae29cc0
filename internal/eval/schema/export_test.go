package schema

// Fold is what the tests prove over all of Unicode.
func Fold(key []byte) string { return fold(key) }
