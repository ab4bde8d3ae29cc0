package inputs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
)

// MaxLine bounds one line of a batch: the largest arguments, escaped once more.
const MaxLine = 64 << 20

// ReadLine returns one line without its end.
func ReadLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > MaxLine {
			return nil, fmt.Errorf("longer than %d bytes", MaxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimRight(line, "\r\n"), err
	}
}
