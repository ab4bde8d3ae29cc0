package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Share is a part of all sessions in hundredths of a percent. The zero Share of a bundle is no
// roll-out in steps: every session has its rules.
type Share uint16

// everyone is the share of all sessions.
const everyone Share = 100_00

// ParseShare reads a share such as "10%" or "0.25%", between 0.01% and 99.99%.
func ParseShare(text string) (Share, error) {
	number, percent := strings.CutSuffix(text, "%")
	whole, part, _ := strings.Cut(number, ".")
	n, err := strconv.ParseUint(whole+(part + "00")[:2], 10, 16)
	if s := Share(n); percent && err == nil && s > 0 && s < everyone && s.String() == text {
		return s, nil
	}
	return 0, fmt.Errorf("%q is no share of the sessions: want a percentage such as 10%% or 0.25%%", text)
}

// String returns the share as [ParseShare] reads it, "" for the zero Share.
func (s Share) String() string {
	if s == 0 {
		return ""
	}
	text := strconv.FormatUint(uint64(s/100), 10)
	if part := s % 100; part != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%02d", part), "0")
	}
	return text + "%"
}

// Includes reports whether a session is in the share. It depends on nothing else, so that all gates
// agree, and a session that is in a share is in every larger one. No session is in no share.
func (s Share) Includes(session string) bool {
	if session == "" {
		return false
	}
	sum := sha256.Sum256([]byte("stopgate canary\x00" + session))
	return uint64(binary.BigEndian.Uint32(sum[:]))*uint64(everyone)>>32 < uint64(s)
}
