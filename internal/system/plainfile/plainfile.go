// Package plainfile opens and reads small files with few system calls, for a process that
// does it for every call of a tool:
//
//	f, err := plainfile.Open("stopgate.toml", os.O_RDONLY, 0)
//	text, err := plainfile.Read(f, 1<<20)
//
// What [os.Open] does beside it is asking the runtime to wait for the file, which no
// regular file needs: three to five calls more than the one that opens it.
package plainfile

import (
	"fmt"
	"io"
	"os"
)

// Read reads a file from where it stands to its end, in one piece where its size is what
// its directory says. One of more than most bytes is an error; devices and pipes, which
// have no size beforehand, are read no further either.
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
