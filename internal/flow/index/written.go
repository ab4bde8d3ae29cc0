package index

// WroteWord reports whether a normalised word is one of what calls with an effect wrote, in any
// reading. A value without such a word was not written; it is cheap to ask before [Index.Written].
func (ix *Index) WroteWord(word []byte) bool {
	h := ix.hasher.sum(classWord, word)
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ix.lostWritten || ix.state.damaged {
		return true
	}
	for _, v := range ix.chains[writtenChain] {
		if _, ok := v.words.find(h); ok {
			return true
		}
	}
	return false
}
