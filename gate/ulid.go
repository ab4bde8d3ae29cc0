package gate

import (
	"fmt"
	"io"
	"time"

	"github.com/stopgate/stopgate"
)

// crockford is the alphabet of ULIDs: base 32 without I, L, O and U.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// newProposalID makes a ULID (DECISIONS S23): 48 bits of Unix milliseconds and 80
// random bits as 26 characters that sort by time.
func newProposalID(now time.Time, entropy io.Reader) (stopgate.ProposalID, error) {
	var b [16]byte
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	if _, err := io.ReadFull(entropy, b[6:]); err != nil {
		return "", fmt.Errorf("proposal id: %w", err)
	}
	var text [26]byte
	// 26 digits hold 130 bits: the first has the two highest bits unset.
	for i := range text {
		var digit byte
		for j := range 5 {
			digit <<= 1
			if bit := 5*i + j - 2; bit >= 0 {
				digit |= b[bit/8] >> (7 - bit%8) & 1
			}
		}
		text[i] = crockford[digit]
	}
	return stopgate.ProposalID(text[:]), nil
}
