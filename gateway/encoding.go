package gateway

import (
	"compress/gzip"
	"errors"
	"io"
	"strings"
)

// A body may expand to this many times its size (WIRE 9.2), counted from
// ratioFloor on: the first bytes of a stream say little about its ratio.
const (
	maxRatio   = 100
	ratioFloor = 64 << 10
)

var (
	errEncoding = errors.New("unknown content encoding")
	errRatio    = errors.New("compressed body expands too far")
)

// decoded returns the reader of a body with the content encodings given. Only
// identity and one gzip are known.
func decoded(encodings []string, body io.Reader) (io.Reader, error) {
	switch encoding := strings.ToLower(strings.TrimSpace(strings.Join(encodings, ","))); encoding {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return &inflater{in: &countingReader{r: body}}, nil
	}
	return nil, errEncoding
}

// inflater reads gzip and fails when the output outgrows the input.
type inflater struct {
	in  *countingReader
	z   *gzip.Reader
	out int64
}

func (r *inflater) Read(p []byte) (int, error) {
	if r.z == nil {
		z, err := gzip.NewReader(r.in)
		if err != nil {
			return 0, err
		}
		r.z = z
	}
	n, err := r.z.Read(p)
	r.out += int64(n)
	if r.out > ratioFloor && r.out > maxRatio*r.in.n {
		return 0, errRatio
	}
	return n, err
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
