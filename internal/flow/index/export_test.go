package index

import "encoding/binary"

// LogSizes logs the sizes of the parts of an index.
func (ix *Index) LogSizes(logf func(string, ...any)) {
	for i, chain := range ix.chains {
		for _, v := range chain {
			logf("chain %d: %d texts, %d+%d tokens, %d words; table %d, sequence %d, blocks %d, atoms %d, other readings %d, pointers %d, %d runs, echo %d",
				i, len(v.sets), v.plain.seq.n, v.loose.seq.n, len(v.words.hashes), v.words.size(), v.plain.seq.size(), v.plain.blocks.size(), v.atoms.size(), v.loose.size(), v.pointers.size(), len(v.runs), len(v.echo))
		}
	}
}

// Body returns the record of a segment.
func Body(segment []byte) []byte { return segment[headLen : len(segment)-macLen] }

// RestoreBody restores a segment with this record.
func (ix *Index) RestoreBody(body []byte) error {
	segment := append(make([]byte, headLen), body...)
	segment[0] = version
	binary.LittleEndian.PutUint32(segment[1:], uint32(len(body)))
	return ix.Restore(binary.LittleEndian.AppendUint64(segment, ix.hasher.sum(classSegment, segment)))
}

// MaxBatches is the number of keys and marks of an index.
const MaxBatches = maxBatches
