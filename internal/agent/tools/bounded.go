package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounded truncates a text of more than limit bytes in the middle, at line ends if
// possible, and inserts the number of omitted bytes.
func Bounded(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := s[:limit*2/3], s[len(s)-limit/3:]
	return joined(head, tail, int64(len(s)))
}

// joined joins the start and the end of a truncated text of total bytes.
func joined(head, tail string, total int64) string {
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	for len(head) > 0 && !utf8.ValidString(head[max(0, len(head)-utf8.UTFMax):]) && !utf8.RuneStart(head[len(head)-1]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", strings.TrimSuffix(head, "\n"), total-int64(len(head)+len(tail)), tail)
}

// output is a writer that stores only the start and the end of the text.
type output struct {
	limit int
	head  []byte
	tail  []byte // ring buffer
	at    int
	total int64
}

// Write implements io.Writer. It never fails.
func (o *output) Write(p []byte) (int, error) {
	o.total += int64(len(p))
	rest := p
	if free := o.limit*2/3 - len(o.head); free > 0 {
		n := min(free, len(rest))
		o.head = append(o.head, rest[:n]...)
		rest = rest[n:]
	}
	size := o.limit / 3
	if len(rest) > size {
		rest = rest[len(rest)-size:]
	}
	for _, c := range rest {
		if len(o.tail) < size {
			o.tail = append(o.tail, c)
			continue
		}
		o.tail[o.at] = c
		o.at = (o.at + 1) % size
	}
	return len(p), nil
}

func (o *output) String() string {
	tail := string(o.tail[o.at:]) + string(o.tail[:o.at])
	if o.total == int64(len(o.head)+len(o.tail)) {
		return string(o.head) + tail
	}
	return joined(string(o.head), tail, o.total)
}
