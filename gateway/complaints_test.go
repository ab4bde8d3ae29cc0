package gateway_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

// Proves FM14: a failure to accept connections is logged as a warning in the format of the log;
// errors of client connections are not.
func TestComplaints(t *testing.T) {
	var output strings.Builder
	log := gateway.Complaints(slog.New(slog.NewJSONHandler(&output, nil)))
	log.Printf("http: TLS handshake error from %s: EOF", "127.0.0.1:1")
	if output.Len() > 0 {
		t.Error(output.String())
	}
	log.Printf("http: Accept error: %v; retrying in %v", "accept4: too many open files", "5ms")
	if got := output.String(); !strings.Contains(got, `"level":"WARN","msg":"no connection can be taken","error":"accept4: too many open files; retrying in 5ms"`) || strings.Count(got, "\n") != 1 {
		t.Error(got)
	}
}
