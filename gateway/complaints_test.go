package gateway_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

// Proves FM14: that no connection can be taken any more is said to whoever does not debug,
// in the form of the log; what clients do to connections is not.
func TestComplaints(t *testing.T) {
	var said strings.Builder
	log := gateway.Complaints(slog.New(slog.NewJSONHandler(&said, nil)))
	log.Printf("http: TLS handshake error from %s: EOF", "127.0.0.1:1")
	if said.Len() > 0 {
		t.Error(said.String())
	}
	log.Printf("http: Accept error: %v; retrying in %v", "accept4: too many open files", "5ms")
	if got := said.String(); !strings.Contains(got, `"level":"WARN","msg":"no connection can be taken","error":"accept4: too many open files; retrying in 5ms"`) || strings.Count(got, "\n") != 1 {
		t.Error(got)
	}
}
