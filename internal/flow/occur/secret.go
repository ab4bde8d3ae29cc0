package occur

import "math/bits"

// The bounds of secrets and their pieces.
const (
	shortestSecret = 16
	pieceSize      = 12
	pieceWindow    = 5 // of pieces in a row, of which one is chosen
)

// Secrets calls each for the pieces of the words of a text that look like a secret: any part of one
// with 16 letters and digits has a piece. A piece is valid until each returns.
func Secrets(text []byte, each func(piece []byte)) {
	w := winnow{each: each}
	for i := 0; i+shortestSecret <= len(text); {
		start := i + shortestSecret // a word from i on that is long enough has the byte before
		end := start
		for start > i && inSecret[text[start-1]] {
			start--
		}
		if start == end {
			i = end
			continue
		}
		for end < len(text) && inSecret[text[end]] {
			end++
		}
		if end-start >= shortestSecret && looksSecret(text[start:end]) {
			w.reset()
			w.add(text[start:end])
		}
		i = end + 1
	}
}

// inSecret are the bytes of secrets.
var inSecret = func() (t [256]bool) {
	for b := range t {
		t[b] = inBase64(byte(b)) || b == '.'
	}
	return t
}()

// Pieces calls each for everything in a value that can be a piece of a secret, whatever is between
// its letters and digits.
func Pieces(value []byte, each func(piece []byte)) {
	w := winnow{each: each}
	w.add(value)
}

// winnow chooses pieces of a row of letters and digits: the least of a window by a hash.
type winnow struct {
	each   func(piece []byte)
	text   []byte // the letters and digits so far, at least those of the window
	hashes [pieceWindow]uint64
	n      int // pieces so far
	last   int // the piece that was chosen last, plus one
}

func (w *winnow) reset() { w.text, w.n, w.last = w.text[:0], 0, 0 }

func (w *winnow) add(text []byte) {
	for _, c := range text {
		if classes[c]&alnum == 0 {
			continue
		}
		if classes[c] == upper {
			c += 'a' - 'A'
		}
		w.text = append(w.text, c)
		if len(w.text) < pieceSize {
			continue
		}
		w.hashes[w.n%pieceWindow] = mix(w.text[len(w.text)-pieceSize:])
		w.n++
		if w.n >= pieceWindow {
			w.choose()
		}
	}
}

// choose hands out the least piece of the window, the last one of equals, once.
func (w *winnow) choose() {
	best := w.n - pieceWindow
	for i := best + 1; i < w.n; i++ {
		if w.hashes[i%pieceWindow] <= w.hashes[best%pieceWindow] {
			best = i
		}
	}
	if best+1 > w.last {
		w.last = best + 1
		w.each(w.text[best : best+pieceSize])
	}
}

// mix is FNV-1a: it chooses pieces, and protects nothing.
func mix(piece []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range piece {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// looksSecret reports whether a word is as irregular as a random one: letters and digits that change
// often, with many different ones.
func looksSecret(word []byte) bool {
	if irregular(word) {
		return true
	}
	start := 0
	for i, c := range word {
		if c == '/' || c == '.' {
			if irregular(word[start:i]) {
				return true
			}
			start = i + 1
		}
	}
	return start > 0 && irregular(word[start:])
}

func irregular(word []byte) bool {
	if len(word) < shortestSecret {
		return false
	}
	var seen [2]uint64                         // a bit for each character
	n, digits, capitals, changes := 0, 0, 0, 0 // changes but for those after a capital, as in "CamelCase"
	last := uint8(0)
	for _, c := range word[:min(len(word), 255)] {
		class := classes[c]
		if class&alnum == 0 {
			continue
		}
		seen[c>>6] |= 1 << (c & 63)
		n++
		switch class {
		case digit:
			digits++
		case upper:
			capitals++
		}
		if last != 0 && class != last && (last != upper || class != lower) {
			changes++
		}
		last = class
	}
	if n < shortestSecret || digits == n {
		return false
	}
	switch {
	case bits.OnesCount64(seen[0])+bits.OnesCount64(seen[1]) < 8:
		return false
	case digits == 0:
		return changes*4 >= n
	case digits+capitals == n && n == len(word):
		return true
	}
	return changes*6 >= n
}
