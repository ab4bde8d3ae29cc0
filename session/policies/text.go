package policies

import (
	"strconv"
	"strings"
	"time"
)

// span writes milliseconds as people do: 1h30m, not 1h30m0s.
func span(ms int64) string {
	text := (time.Duration(ms) * time.Millisecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// times writes how many calls there are.
func times(n int64) string {
	if n == 1 {
		return "1 call"
	}
	return strconv.FormatInt(n, 10) + " calls"
}
