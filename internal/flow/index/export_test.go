package index

// LogSizes logs the sizes of the parts of an index.
func (ix *Index) LogSizes(logf func(string, ...any)) {
	for i, chain := range ix.chains {
		for _, v := range chain {
			logf("chain %d: %d texts, %d tokens, %d+%d words; words %d atoms %d seq %d blocks %d (head %d) loose %d pointers %d runs %d echo %d", i, len(v.sets), v.plain.seq.n, len(v.words.hashes), v.loose.seq.n,
				v.words.size(), v.atoms.size(), v.plain.seq.size(), v.plain.blocks.size(), 4*cap(v.plain.blocks.head), v.loose.size(), v.pointers.size(), len(v.runs), len(v.echo))
		}
	}
}
