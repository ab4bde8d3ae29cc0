package index

import "sort"

// blockLen is the number of tokens in a block. Postings name blocks, whose tokens are then compared
// one by one: smaller blocks find faster, larger ones need less memory.
const blockLen = 512

// lane is a sequence of tokens of the texts of a volume: those of the texts themselves, or those of
// their other readings.
type lane struct {
	seq    sequence
	blocks postings // of words, by blocks
	starts []uint32 // of the texts that have a part of the sequence
	texts  []uint16 // which those are; nil if they are all texts
}

// entryAt returns the entry whose text has the token at a position.
func (l *lane) entryAt(position int) int {
	return sort.Search(len(l.starts), func(i int) bool { return int(l.starts[i]) > position }) - 1
}

func (l *lane) end(entry int) int {
	if entry+1 < len(l.starts) {
		return int(l.starts[entry+1])
	}
	return l.seq.n
}

func (l *lane) text(entry int) int {
	if l.texts == nil {
		return entry
	}
	return int(l.texts[entry])
}

// limit returns where the tokens of the first texts end.
func (l *lane) limit(texts int) int {
	n := len(l.starts)
	if l.texts == nil {
		n = min(n, texts)
	} else {
		n = sort.Search(n, func(i int) bool { return int(l.texts[i]) >= texts })
	}
	if n == len(l.starts) {
		return l.seq.n
	}
	return int(l.starts[n])
}

// phrase is a row of tokens that is searched in a lane.
type phrase struct {
	codes []code
	// marks is set if marks of the text are compared; else they are skipped.
	marks bool
	// alone is set for a single word that must be alone.
	alone bool
}

// search finds a phrase in the first texts. It ends when all steps are used.
func (l *lane) search(p *phrase, texts int, e *echo, to sink) {
	v, steps := e.volume, e.steps
	rare := l.rarest(v, p.codes)
	if rare < 0 {
		return
	}
	limit := l.limit(texts)
	from := 0
	l.blocks.units(p.codes[rare].number()-firstWord, func(block int) bool {
		from = max(from, block*blockLen)
		end := min((block+1)*blockLen, limit)
		for from < end {
			i := l.seq.index(p.codes[rare], from, end)
			if i < 0 {
				*steps -= end - from
				break
			}
			*steps -= i - from + 1
			from = i + 1
			first, last, ok := l.matches(v, p, rare, i, limit, steps)
			if *steps < 0 {
				return false
			}
			if !ok {
				continue
			}
			entry := l.entryAt(first)
			if last > l.end(entry) {
				continue
			}
			from = l.end(entry)
			if text := l.text(entry); !e.has(text) && (*steps < 0 || !to.text(text)) {
				return false
			}
		}
		return end < limit
	})
}

// rarest returns the index of the word in the fewest blocks, or -1 if a word is in none.
func (l *lane) rarest(v *volume, codes []code) int {
	rare, least := -1, 0
	for i, c := range codes {
		if v.mark(c) {
			continue
		}
		n := l.blocks.count(c.number() - firstWord)
		if n == 0 {
			return -1
		}
		if rare < 0 || n < least {
			rare, least = i, n
		}
	}
	return rare
}

// matches reports whether a phrase, of which the token with the index rare is at i, is in the
// sequence, and where it begins and ends.
func (l *lane) matches(v *volume, p *phrase, rare, i, limit int, steps *int) (start, end int, ok bool) {
	if p.alone {
		return i, i + 1, l.seq.at(i)&alone != 0
	}
	start, end = i, i+1
	for k := rare - 1; k >= 0; k-- {
		start--
		for !p.marks && start >= 0 && v.mark(l.seq.at(start)) {
			start--
			*steps--
		}
		if *steps--; start < 0 || l.seq.at(start).number() != p.codes[k].number() {
			return 0, 0, false
		}
	}
	for k := rare + 1; k < len(p.codes); k++ {
		for !p.marks && end < limit && v.mark(l.seq.at(end)) {
			end++
			*steps--
		}
		if *steps--; end >= limit || l.seq.at(end).number() != p.codes[k].number() {
			return 0, 0, false
		}
		end++
	}
	return start, end, true
}

func (l *lane) size() int64 {
	return l.seq.size() + l.blocks.size() + int64(4*cap(l.starts)+2*cap(l.texts))
}
