package body

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// A body can expand to at most this many times its size, checked from ratioFloor bytes on, because
// the first bytes of a stream say little about its ratio.
const (
	maxRatio   = 100
	ratioFloor = 64 << 10
)

// maxWindow limits the window of a zstd body to the size that RFC 8878 requires of decoders on the
// web, and thereby the memory of one body.
const maxWindow = 8 << 20

// ErrRatio is the error of a compressed body that expands too far.
var ErrRatio = errors.New("compressed body expands too far")

var (
	errEncoding = errors.New("unknown content encoding")
	errTrailing = errors.New("data follows the compressed body")
)

// encodings are the decoders of the supported content encodings, by name.
var encodings = map[string]func(*bufio.Reader) (io.Reader, error){
	"gzip":    openGzip,
	"x-gzip":  openGzip,
	"deflate": openDeflate,
	"br":      func(in *bufio.Reader) (io.Reader, error) { return brotli.NewReader(in), nil },
	"zstd":    openZstd,
}

// Decoded returns a reader that decodes a body with the given content encodings: none, or a
// supported one. The limits of a body apply to the decoded bytes.
func Decoded(given []string, body io.Reader) (io.Reader, error) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(given, ",")))
	if encoding == "" || encoding == "identity" {
		return body, nil
	}
	open, ok := encodings[encoding]
	if !ok {
		return nil, errEncoding
	}
	in := &countingReader{r: body}
	return &inflater{in: in, buffered: bufio.NewReader(in), open: open}, nil
}

func openGzip(in *bufio.Reader) (io.Reader, error) { return gzip.NewReader(in) }

// openDeflate decodes the zlib format of RFC 9110, and the raw deflate format that some servers
// send under the same name.
func openDeflate(in *bufio.Reader) (io.Reader, error) {
	const deflated = 8 // compression method of zlib
	if head, err := in.Peek(2); err == nil && head[0]&0x0f == deflated && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}

// openZstd starts no goroutines, so nothing has to be closed.
func openZstd(in *bufio.Reader) (io.Reader, error) {
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// inflater decodes a body. It returns an error if the output outgrows the input, and if input
// follows the end of the body.
type inflater struct {
	in       *countingReader
	buffered *bufio.Reader
	open     func(*bufio.Reader) (io.Reader, error)
	z        io.Reader
	out      int64
}

func (r *inflater) Read(p []byte) (int, error) {
	if r.z == nil {
		z, err := r.open(r.buffered)
		if err != nil {
			return 0, unexpected(err)
		}
		r.z = z
	}
	n, err := r.z.Read(p)
	r.out += int64(n)
	switch {
	case r.out > ratioFloor && r.out > maxRatio*r.in.n,
		errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return 0, ErrRatio
	case err == io.EOF:
		if _, more := r.buffered.ReadByte(); more == nil {
			return n, errTrailing
		} else if more != io.EOF {
			return n, more
		}
	}
	return n, err
}

// unexpected converts io.EOF within the header of a body to io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
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
