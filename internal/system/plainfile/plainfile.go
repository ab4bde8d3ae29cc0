// Package plainfile opens and reads small files with few system calls, for processes that handle
// one call of a tool:
//
//	f, err := plainfile.Open("stopgate.toml", os.O_RDONLY, 0)
//	text, err := plainfile.Read(f, 1<<20)
//
// [os.Open] also registers the file with the runtime's poller, which is useless for regular files
// and takes three to five more system calls.
package plainfile

import (
	"fmt"
	"io"
	"os"
)

// Read reads a file from its position to its end, with one call if its size is known. More than
// most bytes are an error, also for devices and pipes, whose size is unknown.
func Read(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	const first = 512
	text := make([]byte, 0, max(min(info.Size(), most)+1, first))
	for {
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case int64(len(text)) > most:
			return nil, fmt.Errorf("%s is longer than %d bytes", f.Name(), most)
		case err == io.EOF:
			return text, nil
		case err != nil:
			return nil, err
		case len(text) == cap(text):
			text = append(text, 0)[:len(text)]
		}
	}
}
