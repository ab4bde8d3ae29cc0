package index

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// pointers are the pointers of texts: for each the number of its form, in which indexes of lists are
// "#", and the indexes. The leaves of a list of objects share their forms.
type pointers struct {
	forms   []string
	known   map[string]uint32
	packed  []byte   // of each text the number of its form and the indexes, as varints
	offsets []uint32 // into packed, of every stride-th text
	n       int
	length  int64 // of the forms
}

const (
	stride     = 16
	maxPointer = 256
	// maxForms is the length of the forms of a volume. The pointers of further forms are empty.
	maxForms = 1 << 16
)

// clip cuts a pointer that is longer than maxPointer at a token.
func clip(pointer string) string {
	if len(pointer) <= maxPointer {
		return pointer
	}
	return pointer[:max(0, strings.LastIndexByte(pointer[:maxPointer+1], '/'))]
}

// add adds the pointer of the next text.
func (p *pointers) add(pointer string) {
	if p.n%stride == 0 {
		p.offsets = append(p.offsets, uint32(len(p.packed)))
	}
	p.n++
	var space [8]uint64
	form, indexes := split(pointer, space[:0])
	number, ok := p.known[form]
	if !ok && p.length > maxForms {
		number, ok = p.known[""]
		form, indexes = "", nil
	}
	if !ok {
		if p.known == nil {
			p.known = map[string]uint32{}
		}
		number = uint32(len(p.forms))
		p.forms = append(p.forms, form)
		p.known[form] = number
		p.length += int64(len(form)) + 16
	}
	p.packed = binary.AppendUvarint(p.packed, uint64(number))
	for _, i := range indexes {
		p.packed = binary.AppendUvarint(p.packed, i)
	}
}

// at returns the pointer of a text.
func (p *pointers) at(text int) string {
	rest := p.packed[p.offsets[text/stride]:]
	next := func() uint64 {
		v, n := binary.Uvarint(rest)
		rest = rest[n:]
		return v
	}
	for range text % stride {
		for range strings.Count(p.forms[next()], "/#") {
			next()
		}
	}
	var b strings.Builder
	form := p.forms[next()]
	for {
		before, after, found := strings.Cut(form, "/#")
		b.WriteString(strings.ReplaceAll(before, "~2", "#"))
		if !found {
			return b.String()
		}
		b.WriteByte('/')
		b.WriteString(strconv.FormatUint(next(), 10))
		form = after
	}
}

// split returns the form of a pointer and its indexes. A "#" of the pointer is "~2" in its form, which
// no pointer has.
func split(pointer string, indexes []uint64) (form string, _ []uint64) {
	if !strings.ContainsAny(pointer, "0123456789#") {
		return pointer, indexes
	}
	var b strings.Builder
	for i := 0; i < len(pointer); {
		end := i + 1
		for end < len(pointer) && pointer[end] != '/' {
			end++
		}
		if v, ok := indexOf(pointer[i+1 : end]); ok && pointer[i] == '/' {
			b.WriteString("/#")
			indexes = append(indexes, v)
		} else {
			b.WriteString(strings.ReplaceAll(pointer[i:end], "#", "~2"))
		}
		i = end
	}
	return b.String(), indexes
}

// indexOf parses the index of an element.
func indexOf(token string) (index uint64, ok bool) {
	if token == "" || len(token) > 1 && token[0] == '0' || len(token) > 18 {
		return 0, false
	}
	for i := range len(token) {
		if token[i] < '0' || token[i] > '9' {
			return 0, false
		}
		index = 10*index + uint64(token[i]-'0')
	}
	return index, true
}

func (p *pointers) size() int64 {
	return int64(cap(p.packed)+4*cap(p.offsets)+64*len(p.forms)) + p.length
}
