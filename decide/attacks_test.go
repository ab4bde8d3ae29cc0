package decide_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/decide"
)

// Proves H16, S4, S43: a token that may ask and answer cannot approve its own calls; it can decline
// them, and other tokens can approve them.
func TestOwnCall(t *testing.T) {
	d := newFixture(t, func(o *decide.Options) {
		o.Tokens = append(o.Tokens, token("both", "both", decide.Decide|decide.Approve))
	})
	ask := func(who, path string) string {
		a := d.wants(d.do(who, "POST", "/v1/calls", `{"tool":"write","args":{"path":"`+path+`"},"session":"s"}`), 202)
		return "/v1/approvals/" + a.get("approval", "id").(string)
	}
	own := ask("both", "README")
	for _, answer := range []string{`{"answer":"approve"}`, `{"answer":"edit","args":{"path":"x"}}`, `{"answer":"approve","grant":{}}`} {
		d.wants(d.do("both", "POST", own, answer), 403, `"own_call"`)
	}
	d.wants(d.do("anna", "GET", own, ""), 200, `"state":"waiting"`)
	d.wants(d.do("anna", "GET", "/v1/grants", ""), 200, `"grants":[]`)
	d.wants(d.do("both", "POST", own, `{"answer":"deny"}`), 200, `"state":"declined"`)
	d.wants(d.do("anna", "POST", ask("both", "NEWS"), `{"answer":"approve"}`), 200, `"state":"approved"`)
	d.wants(d.do("both", "POST", ask("agent", "README"), `{"answer":"approve"}`), 200, `"state":"approved"`)
}

// Proves H1: an approval of a call at one server, or of one agent, releases no other one.
func TestCallAtAnotherServer(t *testing.T) {
	d := newFixture(t, nil)
	body := `{"tool":"write","args":{"path":"README"},"session":"s"%s}`
	a := d.wants(d.do("agent", "POST", "/v1/calls", fmt.Sprintf(body, `,"server":"test","agent":"low"`)), 202)
	first, question := a.get("id").(string), a.get("approval", "id").(string)
	for _, more := range []string{``, `,"server":"prod","agent":"low"`, `,"server":"test","agent":"root"`} {
		other := d.wants(d.do("agent", "POST", "/v1/calls", fmt.Sprintf(body, more)), 202)
		if other.get("approval", "id") == question {
			t.Errorf("%s waits for the answer to another call", more)
		}
	}
	d.wants(d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"approve","grant":{}}`), 200, `"server":"test"`)
	d.wants(d.do("agent", "GET", "/v1/calls/"+first, "", "Prefer", "wait=10"), 200, `"allowed"`)
	d.wants(d.do("agent", "POST", "/v1/calls", fmt.Sprintf(body, `,"server":"test"`)), 200, `"allowed"`)
	d.wants(d.do("agent", "POST", "/v1/calls", fmt.Sprintf(body, `,"server":"prod"`)), 202)
}

// talk sends bytes to a server of the API and returns the response.
func talk(t *testing.T, address, request string) (status int, kind, body string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, r.Header.Get("Content-Type"), string(text)
}

// Proves S43: every malformed request gets a response in the API's format, and no alternative
// spelling grants access.
func TestOddRequests(t *testing.T) {
	d := newFixture(t, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.api.Serve(ln) }()
	defer func() {
		d.api.Close(context.Background())
		<-served
	}()
	const anna, end = "Host: x\r\nAuthorization: Bearer anna\r\n", "Connection: close\r\n\r\n"
	for _, c := range []struct {
		name, request string
		status        int
		code          string
	}{
		{"two tokens", "GET /v1/grants HTTP/1.1\r\n" + anna + "Authorization: Bearer agent\r\n" + end, 401, "unauthorized"},
		{"a token in the address", "GET /v1/grants?token=anna HTTP/1.1\r\nHost: x\r\n" + end, 401, "unauthorized"},
		{"a token in a trailer", "POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\n" + end +
			"2\r\n{}\r\n0\r\nAuthorization: Bearer agent\r\n\r\n", 401, "unauthorized"},
		{"a browser of nowhere", "GET /v1/grants HTTP/1.1\r\n" + anna + "Origin: null\r\n" + end, 403, "origin_refused"},
		{"two slashes", "GET //v1/grants HTTP/1.1\r\n" + anna + end, 404, "not_found"},
		{"a way up", "POST /v1/x/../check HTTP/1.1\r\n" + anna + "Content-Length: 0\r\n" + end, 404, "not_found"},
		{"a slash behind", "GET /v1/grants/ HTTP/1.1\r\n" + anna + end, 404, "not_found"},
		{"CONNECT", "CONNECT x:1 HTTP/1.1\r\n" + anna + end, 404, "not_found"},
		{"another method", "PATCH /v1/grants HTTP/1.1\r\n" + anna + end, 405, "method_not_allowed"},
		{"a length and chunks", "POST /v1/check HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\nContent-Length: 40\r\nTransfer-Encoding: chunked\r\n" + end +
			"0\r\n\r\n", 400, "malformed_body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, kind, body := talk(t, ln.Addr().String(), c.request)
			if status != c.status || kind != "application/problem+json" || !strings.Contains(body, `"code":"`+c.code+`"`) {
				t.Errorf("%d %s %s", status, kind, body)
			}
		})
	}
}

// Proves H17, FM4: names that are in every row are bounded, so that one call cannot fill or stop
// the log.
func TestLongNames(t *testing.T) {
	d := newFixture(t, nil)
	long := strings.Repeat("n", 1025)
	for _, name := range []string{"tool", "session", "agent", "turn", "call_id", "server"} {
		body := `{"tool":"write","args":{"path":"src/a"},"` + name + `":"` + long + `"}`
		body = strings.Replace(body, `"tool":"write",`, map[bool]string{true: "", false: `"tool":"write",`}[name == "tool"], 1)
		d.wants(d.do("agent", "POST", "/v1/calls", body), 400, `"too_long"`, name)
		d.wants(d.do("agent", "POST", "/v1/check", body), 400, `"too_long"`)
	}
	d.wants(d.do("agent", "POST", "/v1/handoffs", `{"from":"main","to":"`+long+`"}`), 400, `"too_long"`)
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"},"session":"`+long[1:]+`"}`), 200, `"allowed"`)
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"}}`, "Idempotency-Key", long), 400, `"too_long"`)
	a := d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"README"},"session":"s"}`), 202)
	answer := `{"answer":"deny","reason":"` + strings.Repeat("r", 4097) + `"}`
	d.wants(d.do("anna", "POST", "/v1/approvals/"+a.get("approval", "id").(string), answer), 400, `"too_long"`)
}
