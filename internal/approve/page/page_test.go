package page_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/approve/page"
	"github.com/stopgate/stopgate/internal/store/mem"
)

const secret = "3d1c3a7e5b9f48c2"

// now is the time of all tests.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// site is a server with the pages, and a browser without scripts.
type site struct {
	revoked bool
	t       *testing.T
	queue   *approve.Queue
	store   *store
	server  *httptest.Server
	browser *http.Client
	cookie  string
}

// store is a store of questions that can fail.
type store struct {
	*mem.Approvals
	fault error
}

func (s *store) Entries(ctx context.Context, f approve.Filter) ([]approve.Entry, error) {
	if s.fault != nil {
		return nil, s.fault
	}
	return s.Approvals.Entries(ctx, f)
}

func (s *store) Entry(ctx context.Context, id string) (approve.Entry, error) {
	if s.fault != nil {
		return approve.Entry{}, s.fault
	}
	return s.Approvals.Entry(ctx, id)
}

func open(t *testing.T, change ...func(*page.Options)) *site {
	t.Helper()
	s := &site{t: t, store: &store{Approvals: new(mem.Approvals)}}
	clock := func() time.Time { return now }
	var err error
	if s.queue, err = approve.New(s.store, approve.Options{Now: clock}); err != nil {
		t.Fatal(err)
	}
	o := page.Options{Queue: s.queue, Now: clock, Login: func(sum [sha256.Size]byte) (string, stopgate.Groups, bool) {
		return "anna", stopgate.Groups{}, sum == sha256.Sum256([]byte(secret)) && !s.revoked
	}}
	for _, c := range change {
		c(&o)
	}
	pages, err := page.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.server = httptest.NewServer(pages)
	t.Cleanup(s.server.Close)
	s.browser = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s
}

// ask adds a question and returns it.
func (s *site) ask(change func(*approve.Entry)) approve.Entry {
	s.t.Helper()
	e := approve.Entry{
		ID: "Q" + strings.Repeat("A", 25), Proposal: "P", Tool: "write_file", Session: "s1", Agent: "main", Principal: "local",
		Mode: stopgate.Ask, Code: stopgate.CodeRuleMatched, Rule: &stopgate.RuleRef{File: "stopgate.toml", Line: 9, ID: "r"}, Pointer: "/path", Public: "somebody looks at it",
		Complete: true, Args: `{"path":"README"}`, Received: 17,
		Binding: gate.Binding{Args: "h", Tool: "write_file", Policy: "p", Session: "s1", Principal: "local"},
		Leaves:  []gate.Leaf{{Pointer: "/path", Type: "path", Known: true, JSON: `"README"`}},
		Asked:   now.Add(-time.Minute), Until: now.Add(10 * time.Minute), Expires: now.Add(14 * time.Minute), State: approve.Waiting,
	}
	if change != nil {
		change(&e)
	}
	if _, err := s.store.AddEntry(s.t.Context(), e, func(approve.Entry) bool { return false }); err != nil {
		s.t.Fatal(err)
	}
	return e
}

// view is a response with a page.
type view struct {
	status int
	text   string
	header http.Header
}

func (s *site) send(method, path string, form url.Values, headers ...string) view {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", s.server.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if s.cookie != "" {
		r.Header.Set("Cookie", s.cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	in, err := s.browser.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer in.Body.Close()
	text, err := io.ReadAll(in.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return view{in.StatusCode, string(text), in.Header}
}

func (s *site) get(path string, headers ...string) view {
	return s.send(http.MethodGet, path, nil, headers...)
}

// enter logs in.
func (s *site) enter() *site {
	s.t.Helper()
	v := s.send(http.MethodPost, "/approvals/-/login", url.Values{"secret": {secret}, "next": {"/approvals/Q"}})
	if v.status != http.StatusSeeOther || v.header.Get("Location") != "/approvals/Q" {
		s.t.Fatalf("%d %v", v.status, v.header)
	}
	s.cookie, _, _ = strings.Cut(v.header.Get("Set-Cookie"), ";")
	return s
}

func (v view) field(name string) string {
	if m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(v.text); m != nil {
		return m[1]
	}
	return ""
}

func (v view) code() string {
	if m := regexp.MustCompile(`<strong>(\d{4})</strong>`).FindStringSubmatch(v.text); m != nil {
		return m[1]
	}
	return ""
}

// form returns the form that a button of a page sends.
func (v view) form(do string, more ...string) url.Values {
	f := url.Values{"do": {do}, "token": {v.field("token")}, "seen": {v.field("seen")}, "code": {v.code()}}
	for i := 0; i < len(more); i += 2 {
		f.Set(more[i], more[i+1])
	}
	return f
}

func (s *site) wants(v view, status int, what ...string) view {
	s.t.Helper()
	for _, w := range what {
		if !strings.Contains(v.text, w) {
			s.t.Errorf("%q is missing in %s", w, v.text)
		}
	}
	if v.status != status {
		s.t.Fatalf("%d, want %d: %s", v.status, status, v.text)
	}
	return v
}

func (s *site) state(id string) approve.Entry {
	s.t.Helper()
	e, err := s.store.Approvals.Entry(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

// Proves S60, S4: a person logs in, sees the call as at the terminal, and answers yes with the code
// on the page.
func TestApprove(t *testing.T) {
	s := open(t)
	e := s.ask(nil)
	at := "/approvals/" + e.ID
	s.wants(s.get(at), 401, `name="secret"`, at)
	s.wants(s.send("POST", "/approvals/-/login", url.Values{"secret": {"wrong"}, "next": {at}}), 401, "may not answer", at)
	s.enter()
	s.wants(s.get("/approvals"), 200, "write_file", at, `http-equiv="refresh" content="5"`, "anna")
	v := s.wants(s.get(at), 200, "main (session s1) wants to run", "write_file", "/path", "&#34;README&#34;", "somebody looks at it", "stopgate.toml:9, /path", "asked 60 s ago", "can be answered for 14 min")
	s.wants(s.send("POST", at, v.form("approve", "code", "")), 403, "The code was not the one")
	if s.state(e.ID).State != approve.Waiting {
		t.Fatal("a yes without the code")
	}
	v = s.get(at)
	s.wants(s.send("POST", at, v.form("approve", "reason", "fine")), 303)
	if e := s.state(e.ID); e.State != approve.Approved || e.By != "anna" || e.Reason != "fine" {
		t.Fatalf("%+v", e)
	}
	after := s.wants(s.get(at), 200, "Approved by anna: fine", "not been let out yet", `http-equiv="refresh"`)
	if after.code() != "" || strings.Contains(after.text, `value="approve"`) {
		t.Error("an answered question can be answered")
	}
	// The same form again, as after the back button or from a stolen link.
	s.wants(s.send("POST", at, v.form("approve")), 409, "Nothing was answered")
	s.wants(s.get("/approvals"), 200, "Nothing waits")
}

// Proves S60, H16: a no needs no code, and is accepted until the call is released.
func TestDeny(t *testing.T) {
	s := open(t).enter()
	e := s.ask(nil)
	at := "/approvals/" + e.ID
	v := s.get(at)
	f := v.form("deny", "reason", "use <the> test database")
	f.Del("code")
	s.wants(s.send("POST", at, f), 303)
	if e := s.state(e.ID); e.State != approve.Declined || e.Reason != "use <the> test database" {
		t.Fatalf("%+v", e)
	}
	s.wants(s.get(at), 200, "Denied by anna: use &lt;the&gt; test database")
}

// Proves S34, H3, K31: answers with a grant, and with edited arguments.
func TestGrantAndEdit(t *testing.T) {
	s := open(t).enter()
	e := s.ask(nil)
	at := "/approvals/" + e.ID
	s.wants(s.send("POST", at, s.get(at).form("always-exact")), 303)
	grants, err := s.queue.Grants(t.Context(), approve.GrantFilter{})
	if err != nil || len(grants) != 1 || grants[0].By != "anna" || s.state(e.ID).State != approve.Approved {
		t.Fatalf("%+v %v", grants, err)
	}
	e = s.ask(func(e *approve.Entry) {
		e.ID, e.Mode, e.Args = "QB", stopgate.Edit, `{"path":"a`+"\u202e\u200b\U000E0001é"+`"}`
	})
	at = "/approvals/QB"
	v := s.wants(s.get(at), 200, "in the editor below", "<details open>", `\u202e\u200b\udb40\udc01é`)
	s.wants(s.send("POST", at, v.form("edit", "args", "no json")), 400, "Nothing was answered")
	s.wants(s.send("POST", at, s.get(at).form("always-exact")), 422, "Nothing was answered")
	s.wants(s.send("POST", at, s.get(at).form("edit", "args", "{\r\n \"path\":\"src/a\"}")), 303)
	if e := s.state("QB"); e.State != approve.Edited || e.Edit != "{\r\n \"path\":\"src/a\"}" {
		t.Fatalf("%+v", e)
	}
	s.wants(s.get(at), 200, "Changed and approved by anna")
}

// Proves S34, Q25: the grants are offered with what they let run, and the button names one.
func TestOffers(t *testing.T) {
	s := open(t).enter()
	e := s.ask(func(e *approve.Entry) {
		e.Leaves = []gate.Leaf{{Pointer: "/path", Type: "path", Known: true, JSON: `"src/api/a.ts"`}}
	})
	at := "/approvals/" + e.ID
	const note = `<pre class="note">`
	v := s.wants(s.get(at), 200,
		`value="always-directory">this directory: src/api</button>`+note+"write_file runs unasked for every path in src/api, with any /content\nfor example src/api/another.ts</pre>",
		`value="always-file">this file: src/api/a.ts</button>`+note+"write_file runs unasked for src/api/a.ts, with any /content; its other values stay the same</pre>",
		`value="always-exact">exactly this</button>`+note+"write_file runs unasked with the same values</pre>")
	if n := strings.Count(v.text, `value="always-`); n != 3 {
		t.Errorf("%d grants are offered", n)
	}
	s.wants(s.send("POST", at, v.form("always-host")), 422, "Nothing was answered")
	s.wants(s.send("POST", at, s.get(at).form("always-directory")), 303)
	grants, err := s.queue.Grants(t.Context(), approve.GrantFilter{})
	wanted := []approve.Value{{Pointer: "/path", How: approve.Below, Text: "src/api"}, {Pointer: "/content", How: approve.Open}}
	if err != nil || len(grants) != 1 || !slices.Equal(grants[0].Values, wanted) {
		t.Fatalf("%+v %v", grants, err)
	}
}

// Proves Q8, H1, H21: questions that were shown in full are answered together from the list, each for
// the call that was shown.
func TestTogether(t *testing.T) {
	s := open(t).enter()
	for _, id := range []string{"QA", "QB", "QC"} {
		s.ask(func(e *approve.Entry) { e.ID, e.Binding.Args = id, "hash"+id })
	}
	list := s.wants(s.get("/approvals"), 200, "can be answered together here")
	if list.code() != "" || strings.Contains(list.text, "checkbox") {
		t.Fatal("questions that were not shown can be approved")
	}
	s.wants(s.get("/approvals/QA"), 200, "this is ", "of 3")
	s.get("/approvals/QB")
	answer := func(v view, do string, ids ...string) view {
		f := v.form(do)
		f["id"] = ids
		return s.send("POST", "/approvals/-/together", f)
	}
	v := s.wants(s.get("/approvals"), 200, `name="id" value="QA"`, `name="id" value="QB"`)
	s.wants(answer(v, "approve"), 400, "No question was checked")
	s.wants(answer(v, "always-exact", "QA"), 400, "That was no answer")
	f := v.form("approve", "code", "nope")
	f["id"] = []string{"QA"}
	s.wants(s.send("POST", "/approvals/-/together", f), 403, "The code was not the one")
	v = s.get("/approvals")
	s.wants(answer(v, "approve", "QC"), 409, "nothing was answered", "Not every answer was taken")
	forged := v.form("approve", "seen", v.field("seen")+" QC "+s.state("QC").Binding.Hash())
	forged["id"] = []string{"QC"}
	s.wants(s.send("POST", "/approvals/-/together", forged), 403)
	// The call of QB is another one now.
	v = s.get("/approvals")
	if _, err := s.store.ChangeEntry(t.Context(), "QB", func(e approve.Entry) (approve.Entry, error) {
		e.Binding.Args = "other"
		return e, nil
	}); err != nil {
		t.Fatal(err)
	}
	s.wants(answer(v, "approve", "QA", "QB"), 409, "has changed since you read it")
	if s.state("QA").State != approve.Approved || s.state("QB").State != approve.Waiting || s.state("QC").State != approve.Waiting {
		t.Fatal(s.state("QA").State, s.state("QB").State, s.state("QC").State)
	}
	s.get("/approvals/QB")
	s.wants(answer(s.get("/approvals"), "deny", "QB", "QC"), 303)
	if s.state("QB").State != approve.Declined || s.state("QC").State != approve.Declined {
		t.Fatal(s.state("QB").State, s.state("QC").State)
	}
}

// Proves H1, H2: an answer is for the call that was shown, and an incomplete call accepts only a
// no.
func TestStaleAndArriving(t *testing.T) {
	s := open(t).enter()
	s.ask(func(e *approve.Entry) {
		e.ID, e.Complete, e.Args, e.Leaves, e.Binding, e.Received = "QC", false, "", nil, gate.Binding{}, 300
	})
	at := "/approvals/QC"
	early := s.wants(s.get(at), 200, "still arriving, 300 bytes so far", `content="2"`)
	if early.code() != "" || strings.Contains(early.text, `value="approve"`) {
		t.Fatal("half a call can be approved")
	}
	s.wants(s.send("POST", at, early.form("approve")), 403)
	_, err := s.store.ChangeEntry(t.Context(), "QC", func(e approve.Entry) (approve.Entry, error) {
		e.Complete, e.Args, e.Binding = true, `{"path":"a"}`, gate.Binding{Args: "one"}
		return e, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	v := s.wants(s.get(at), 200, "{&#34;path&#34;:&#34;a&#34;}")
	if _, err = s.store.ChangeEntry(t.Context(), "QC", func(e approve.Entry) (approve.Entry, error) {
		e.Args, e.Binding = `{"path":"b"}`, gate.Binding{Args: "two"}
		return e, nil
	}); err != nil {
		t.Fatal(err)
	}
	s.wants(s.send("POST", at, v.form("approve")), 409, "has changed since you read it", "{&#34;path&#34;:&#34;b&#34;}")
	if s.state("QC").State != approve.Waiting {
		t.Fatal("an answer to something else")
	}
	s.wants(s.send("POST", at, s.get(at).form("perhaps")), 400, "no answer")
	s.wants(s.send("POST", at, s.get(at).form("deny")), 303)
}

// Proves H21, S46: forms that were not sent by a page of this gate are refused.
func TestForgedForms(t *testing.T) {
	s := open(t).enter()
	e := s.ask(nil)
	at := "/approvals/" + e.ID
	v := s.get(at)
	good := v.form("deny")
	for name, headers := range map[string][]string{
		"another origin":     {"Origin", "https://evil.example"},
		"no origin":          {"Origin", ""},
		"an opaque origin":   {"Origin", "null"},
		"another site":       {"Sec-Fetch-Site", "cross-site"},
		"a sibling":          {"Sec-Fetch-Site", "same-site"},
		"a rebound name":     {"Host", "evil.example", "Origin", "http://evil.example"},
		"a name with a port": {"Host", "gate.example:8789", "Origin", "http://gate.example:8789"},
		"a broken origin":    {"Origin", "http://%"},
		"an origin's path":   {"Origin", s.server.URL + "/x"},
	} {
		if v := s.send("POST", at, good, headers...); v.status != 403 {
			t.Errorf("%s: %d %s", name, v.status, v.text)
		}
	}
	for name, form := range map[string]url.Values{
		"no token":         v.form("deny", "token", ""),
		"another token":    v.form("deny", "token", strings.Repeat("0", 64)),
		"somebody's token": open(t).enter().get("/approvals").form("deny"),
	} {
		if v := s.send("POST", at, form); v.status != 403 {
			t.Errorf("%s: %d", name, v.status)
		}
	}
	for name, cookie := range map[string]string{"no cookie": "", "another": "stopgate_approver=guess"} {
		if v := s.send("POST", at, good, "Cookie", cookie); v.status != 401 {
			t.Errorf("%s: %d", name, v.status)
		}
	}
	if v := s.send("GET", at+"?do=deny&token="+v.field("token"), nil); v.status != 200 || s.state(e.ID).State != approve.Waiting {
		t.Error("a GET answers")
	}
	if s.state(e.ID).State != approve.Waiting {
		t.Fatalf("%+v", s.state(e.ID))
	}
	if v := s.get("/approvals", "Host", "evil.example"); v.status != 403 || strings.Contains(v.text, "write_file") {
		t.Error("a rebound name reads")
	}
	for _, host := range []string{"localhost:8789", "127.0.0.1", "[::1]:8789", "[::1]", "LOCALHOST"} {
		if v := s.get("/approvals", "Host", host); v.status != 200 {
			t.Errorf("%s: %d", host, v.status)
		}
	}
}

// Proves H21: no page can be framed, cached, or run a script, and the cookie is not sent to other
// sites.
func TestHeaders(t *testing.T) {
	s := open(t)
	e := s.ask(nil)
	in := s.send("POST", "/approvals/-/login", url.Values{"secret": {secret}})
	for _, attribute := range []string{"HttpOnly", "SameSite=Strict", "Path=/approvals", "Max-Age=43200"} {
		if !strings.Contains(in.header.Get("Set-Cookie"), attribute) {
			t.Errorf("%s is missing in %s", attribute, in.header.Get("Set-Cookie"))
		}
	}
	if strings.Contains(in.header.Get("Set-Cookie"), "Secure") {
		t.Error("a cookie that plain HTTP does not send")
	}
	s.enter()
	for _, path := range []string{"/approvals", "/approvals/" + e.ID, "/approvals/nothing", "/approvals/-/style.css", "/approvals/a/b"} {
		v := s.get(path)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Frame-Options":         "DENY", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		} {
			if v.header.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, v.header.Get(name))
			}
		}
		if strings.Contains(v.text, "<script") || strings.Contains(v.text, " style=") || strings.Contains(v.text, " onclick") {
			t.Errorf("%s needs what the policy forbids", path)
		}
	}
	s.wants(s.get("/approvals/nothing"), 404)
	// After a link from another site the browser reloads the page, with the cookie.
	cookie := s.cookie
	s.cookie = ""
	v := s.wants(s.get("/approvals/"+e.ID, "Sec-Fetch-Site", "cross-site"), 200, `content="0; url=/approvals/`+e.ID)
	if strings.Contains(v.text, "README") {
		t.Error("the question, to nobody")
	}
	s.cookie = cookie
	page := s.get("/approvals")
	s.wants(s.send("POST", "/approvals/-/logout", page.form("")), 303)
	s.wants(s.get("/approvals"), 401)
}

// Proves H21, S60: the pages work after a TLS proxy, under its name.
func TestPublicURL(t *testing.T) {
	s := open(t, func(o *page.Options) { o.PublicURL = "https://gate.example.com" })
	v := s.send("POST", "/approvals/-/login", url.Values{"secret": {secret}}, "Host", "gate.example.com", "Origin", "https://gate.example.com")
	if v.status != 303 || !strings.Contains(v.header.Get("Set-Cookie"), "Secure") {
		t.Fatalf("%d %v", v.status, v.header)
	}
	for _, origin := range []string{"http://gate.example.com.evil.example", "http://other.example.com"} {
		if v := s.send("POST", "/approvals/-/login", url.Values{"secret": {secret}}, "Host", "gate.example.com", "Origin", origin); v.status != 403 {
			t.Errorf("%s: %d", origin, v.status)
		}
	}
	if v := s.get("/approvals", "Host", "other.example.com"); v.status != 403 {
		t.Error(v.status)
	}
	for _, next := range []string{"https://evil.example/", "//evil.example", "/approvals/../x\\", "/elsewhere", ""} {
		v := open(t).send("POST", "/approvals/-/login", url.Values{"secret": {secret}, "next": {next}})
		if at := v.header.Get("Location"); at != "/approvals" {
			t.Errorf("%q leads to %q", next, at)
		}
	}
}

// Proves H14, H17: text of a model is shown as text, visible and in its order.
func TestHostileText(t *testing.T) {
	s := open(t).enter()
	nasty := "<script>alert(1)</script>\x1b[2J\u202eabc\u200b\"'&" + strings.Repeat("\n", 3) + "rm  x"
	text := strings.NewReplacer("\\", `\\`, "\"", `\"`, "\n", `\n`, "\x1b", `\u001b`).Replace(nasty)
	s.ask(func(e *approve.Entry) {
		e.ID, e.Tool, e.Agent, e.Session = "QD", stopgate.ToolName("t<b>\u202e"), "<i>a", "<u>s"
		e.Public, e.Pointer, e.Rule.File = "<b>because", "/<p>", "<f>.toml"
		e.Args = `{"x":"` + text + `"}`
		e.Leaves = []gate.Leaf{{Pointer: "/<x>", JSON: `"` + text + `"`}, {Pointer: "/long", JSON: `"` + strings.Repeat("y", 5000) + `"`}}
		e.Floors = []stopgate.Floor{{Mode: stopgate.Ask, Code: stopgate.CodeProtectedTarget, Pointer: "/<z>"}}
	})
	for _, path := range []string{"/approvals", "/approvals/QD", "/approvals/QD?all=1"} {
		v := s.wants(s.get(path), 200)
		for _, raw := range []string{"<script", "<b>", "<i>a", "<u>s", "<f>", "<x>", "<z>", "\x1b", "\u202e", "\u200b"} {
			if strings.Contains(v.text, raw) {
				t.Errorf("%s: %q reaches the page", path, raw)
			}
		}
	}
	v := s.wants(s.get("/approvals/QD"), 200, `\u{202e}`, `\u{200b}`, "rm  x", "&lt;script&gt;", " more ", "sha256", "?all=1")
	if strings.Contains(v.text, strings.Repeat("y", 1000)+"\"") {
		t.Error("not cut")
	}
	s.wants(s.get("/approvals/QD?all=1"), 200, strings.Repeat("y", 5000))
}

// Proves S5: an open list counts as a present approver; a store that fails answers nothing.
func TestAttendanceAndErrors(t *testing.T) {
	s := open(t)
	call := &stopgate.Call{Tool: "write_file"}
	if s.queue.Abilities(t.Context(), call).Reachable {
		t.Fatal("somebody is there")
	}
	s.get("/approvals")
	if s.queue.Abilities(t.Context(), call).Reachable {
		t.Fatal("nobody has logged in")
	}
	s.enter().get("/approvals")
	if !s.queue.Abilities(t.Context(), call).Reachable {
		t.Error("nobody is there")
	}
	e := s.ask(nil)
	v := s.get("/approvals/" + e.ID)
	s.store.fault = errors.New("disk")
	s.wants(s.get("/approvals"), 503)
	s.wants(s.get("/approvals/"+e.ID), 503)
	s.wants(s.send("POST", "/approvals/"+e.ID, v.form("always-exact")), 503)
	s.store.fault = nil
	if s.state(e.ID).State != approve.Waiting {
		t.Error("answered")
	}
	for id, change := range map[string]func(*approve.Entry){
		"QE": func(e *approve.Entry) { e.Expires = now },
		"QF": func(e *approve.Entry) { e.State, e.By = approve.Used, "bo" },
		"QG": func(e *approve.Entry) { e.State = approve.Withdrawn },
		"QH": func(e *approve.Entry) { e.Until = now.Add(-time.Second) },
	} {
		s.ask(func(e *approve.Entry) { change(e); e.ID = id })
	}
	s.wants(s.get("/approvals/QE"), 200, "time for an answer is over")
	s.wants(s.get("/approvals/QF"), 200, "Approved by bo. The call was let out")
	s.wants(s.get("/approvals/QG"), 200, "Withdrawn")
	s.wants(s.get("/approvals/QH"), 200, "stopped waiting")
	s.wants(s.send("POST", "/approvals/QE", v.form("deny")), 410)
	for _, o := range []page.Options{{}, {Queue: s.queue}, {Queue: s.queue, Login: func([sha256.Size]byte) (string, stopgate.Groups, bool) { return "", stopgate.Groups{}, false }, PublicURL: "nothing"}} {
		if _, err := page.New(o); err == nil {
			t.Errorf("%+v", o)
		}
	}
}

// Proves H21: logins are bounded in time and number.
func TestLoginsEnd(t *testing.T) {
	at := now
	s := open(t, func(o *page.Options) { o.Now = func() time.Time { return at } })
	s.enter()
	s.wants(s.get("/approvals"), 200)
	first := s.cookie
	for range 1000 {
		s.enter()
	}
	s.wants(s.get("/approvals"), 200)
	s.wants(s.get("/approvals", "Cookie", first), 401)
	for _, later := range []time.Duration{12 * time.Hour, -13 * time.Hour} { // FM13
		at = now.Add(later)
		s.wants(s.get("/approvals"), 401)
	}
}

// Proves S4, H16: a revoked token can no longer answer, in any browser.
func TestRevokedTokenLogsOut(t *testing.T) {
	s := open(t)
	e := s.ask(nil)
	at := "/approvals/" + e.ID
	v := s.enter().get(at)
	s.revoked = true
	s.wants(s.send("POST", at, v.form("approve")), 401, "Token with the scope")
	s.wants(s.get("/approvals"), 401, "Token with the scope")
	s.revoked = false
	s.wants(s.get("/approvals"), 401, "Token with the scope") // it has to log in again
	if s.state(e.ID).State != approve.Waiting {
		t.Fatal("an answer of nobody")
	}
}

// Proves H14, H16: a person who has not seen everything that a call touches cannot say yes; content
// that a grant does not compare is named.
func TestHiddenTargets(t *testing.T) {
	s := open(t)
	e := s.ask(func(e *approve.Entry) {
		e.Leaves = []gate.Leaf{
			{Pointer: "/command", Type: "command", Known: true, JSON: `"echo ` + strings.Repeat("a", 3000) + `; evil; ` + strings.Repeat("b", 3000) + `"`},
			{Pointer: "/content", Known: true, JSON: `"` + strings.Repeat("c", 300) + `"`},
		}
	})
	s.enter()
	v := s.wants(s.get("/approvals/"+e.ID), 200, "Not all of what it touches", `value="deny"`)
	if v.code() != "" || strings.Contains(v.text, `value="approve"`) || strings.Contains(v.text, "evil") {
		t.Error("a yes is offered to what is hidden")
	}
	s.wants(s.send("POST", "/approvals/"+e.ID, v.form("approve", "code", "0000")), 403)
	v = s.wants(s.get("/approvals/"+e.ID+"?all=1"), 200, "; evil; ", `value="approve"`, "any text in /content")
	s.wants(s.send("POST", "/approvals/"+e.ID, v.form("approve")), 303)
}

// Proves H21: only forms of the pages are accepted, and only small ones without a login.
func TestInvalidForms(t *testing.T) {
	s := open(t)
	e := s.ask(nil)
	s.wants(s.send("POST", "/approvals/-/login", url.Values{"secret": {secret}}, "Content-Type", "multipart/form-data; boundary=x"), 415)
	s.wants(s.send("POST", "/approvals/-/login", url.Values{"pad": {strings.Repeat("x", 1<<20)}, "secret": {secret}}), 401)
	v := s.enter().get("/approvals/" + e.ID)
	s.wants(s.send("POST", "/approvals/"+e.ID, v.form("deny"), "Content-Type", "text/plain"), 415)
	s.wants(s.get("/approvals/"), 303)
	if s.state(e.ID).State != approve.Waiting {
		t.Error("an odd form answers")
	}
}

// Proves H15, H21: Enter in a field never submits another answer.
func TestEnterKey(t *testing.T) {
	s := open(t)
	text := s.enter().get("/approvals/" + s.ask(nil).ID).text
	first := regexp.MustCompile(`(?s)<form method="post">.*?</form>`).FindAllString(text, -1)
	if len(first) != 2 || strings.Contains(first[0], `name="code"`) || strings.Contains(first[1], `value="deny"`) || strings.Contains(first[1], `name="reason"`) {
		t.Error(first)
	}
}
