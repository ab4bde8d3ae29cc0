package decide_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// A client that still writes when its call is refused is not reset: it may end its body, and reads
// the decision after that.
func TestStreamLingers(t *testing.T) {
	d := newFixture(t, nil)
	socket := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	go d.api.ServeLocal(ln)
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	chunk := func(text string) {
		t.Helper()
		if _, err := fmt.Fprintf(conn, "%x\r\n%s\r\n", len(text), text); err != nil {
			t.Fatal("the connection ended while the client wrote:", err)
		}
	}
	fmt.Fprint(conn, "POST /v1/calls/stream HTTP/1.1\r\nHost: gate\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
	in := bufio.NewReader(conn)
	chunk("{\"tool\":\"write\"}\n")
	chunk(`{"path":".env","content":"`)
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, `"denied"`) {
			break
		}
	}
	for range 200 {
		chunk(strings.Repeat("x", 10_000))
	}
	fmt.Fprint(conn, "0\r\n\r\n")
	if _, err := io.Copy(io.Discard, in); err != nil {
		t.Error(err)
	}
}
