package decide_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// keyed returns an API with keys of sessions, in which no approver is present.
func keyed(t *testing.T, change func(*decide.Options)) *fixture {
	t.Helper()
	var queue *approve.Queue
	d := newFixture(t, func(o *decide.Options) {
		var err error
		if queue, err = approve.New(new(mem.Approvals), approve.Options{}); err != nil {
			t.Fatal(err)
		}
		store := mem.New()
		o.Gate, err = gate.New(o.Program(), gate.WithApprover(queue), gate.WithStore(store), gate.WithDenyMode(gate.DenyToolResult))
		if err != nil {
			t.Fatal(err)
		}
		o.Queue, o.Sessions, o.Lockdowns = queue, store, store
		o.SessionSecret, o.Programs = []byte(strings.Repeat("s", 32)), true
		if change != nil {
			change(o)
		}
	})
	d.queue = queue
	return d
}

// begin begins a session on the socket.
func (d *fixture) begin(body string) (id, key string) {
	d.t.Helper()
	a := d.wants(d.do("", "POST", "/v1/sessions", body), 201)
	return a.get("session").(string), a.get("key").(string)
}

const asked = `{"tool":"write","args":{"path":"README"},"session":"%s"}`

// Proves S4, S43: the key of a session opens this session only, for a few routes, on the socket only.
func TestSessionKeys(t *testing.T) {
	d := keyed(t, nil)
	id, key := d.begin("")
	other, otherKey := d.begin(`{"session":"mine"}`)
	if other != "mine" || key == otherKey || !strings.HasPrefix(key, "sgk_") {
		t.Fatalf("%s %s %s", other, key, otherKey)
	}
	texts, spoke := `{"texts":[{"source":"user","text":"hi"}]}`, `{"spoke":true}`
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/sessions/%s/texts", texts}, {"POST", "/v1/sessions/%s/facts", spoke}, {"POST", "/v1/sessions/%s/facts", `{"approved":"plan"}`},
		{"PUT", "/v1/sessions/%s/data", `{"a":1}`}, {"GET", "/v1/approvals?session=%s", ""},
	} {
		path := fmt.Sprintf(c.path, id)
		if a := d.do("", c.method, path, c.body, "Stopgate-Session-Key", key); a.status/100 != 2 {
			t.Errorf("%s %s: %d %s", c.method, path, a.status, a.text)
		}
		d.wants(d.do("", c.method, path, c.body), 403, `"scope_missing"`)
		for _, wrong := range []string{otherKey, key + "x", strings.ToUpper(key), "sgk_", key[:len(key)-1]} {
			d.wants(d.do("", c.method, path, c.body, "Stopgate-Session-Key", wrong), 403, `"session_key_invalid"`)
		}
		d.wants(d.do("agent", c.method, path, c.body, "Stopgate-Session-Key", key), 403, `"scope_missing"`)
		r := httptest.NewRequest(c.method, path, strings.NewReader(c.body))
		r.Header.Set("Stopgate-Session-Key", key)
		w := httptest.NewRecorder()
		d.remote.ServeHTTP(w, r) // not the socket
		if w.Code != http.StatusUnauthorized {
			t.Errorf("remote %s %s: %d", c.method, path, w.Code)
		}
	}
	for path, body := range map[string]string{"/v1/sessions/" + id + "/texts?principal=agent": texts, "/v1/sessions/" + id + "/facts?principal=agent": spoke} {
		d.wants(d.do("", "POST", path, body, "Stopgate-Session-Key", key), 403, `"session_key_invalid"`)
	}
	d.wants(d.do("", "GET", "/v1/approvals?session="+id+"&principal=agent", "", "Stopgate-Session-Key", key), 403, `"session_key_invalid"`)
	d.wants(d.do("", "GET", "/v1/approvals", "", "Stopgate-Session-Key", key), 403, `"session_key_invalid"`)
	for _, path := range []string{"/v1/sessions/" + id + "/facts", "/v1/sessions", "/v1/approvals/watch", "/v1/grants", "/v1/records", "/v1/lockdown"} {
		if a := d.do("", "GET", path, "", "Stopgate-Session-Key", key); a.status != 403 {
			t.Errorf("GET %s with a key: %d", path, a.status)
		}
	}
}

// Proves S4: a name is begun once, by one of many programs, and not after the session has facts.
func TestSessionIsBegunOnce(t *testing.T) {
	d := keyed(t, nil)
	id, _ := d.begin("")
	d.wants(d.do("", "POST", "/v1/sessions", `{"session":"`+id+`"}`), 409, `"session_exists"`)
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"test","args":{},"session":"used"}`), 200, `"allowed"`)
	d.wants(d.do("", "POST", "/v1/sessions", `{"session":"used"}`), 409, `"session_exists"`)
	d.wants(d.do("agent", "POST", "/v1/sessions", `{"session":"named"}`), 400, `"no_key"`)
	if a := d.wants(d.do("agent", "POST", "/v1/sessions", ""), 201); a.get("key") != nil {
		t.Error("a client with a token got a key")
	}
	var keys sync.Map
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			w := httptest.NewRecorder()
			d.local.ServeHTTP(w, httptest.NewRequest("POST", "/v1/sessions", strings.NewReader(`{"session":"raced"}`)))
			if w.Code == 201 {
				keys.Store(w.Body.String()+fmt.Sprint(&w), true)
			}
		})
	}
	all.Wait()
	won := 0
	keys.Range(func(any, any) bool { won++; return true })
	if won != 1 {
		t.Errorf("%d programs began one session", won)
	}
}

// Proves S43: a key is derived from the secret of the store, so that it holds after a restart and for
// another gate with the store, and not with another secret.
func TestSessionKeyAfterRestart(t *testing.T) {
	first := keyed(t, nil)
	_, key := first.begin(`{"session":"s"}`)
	again := keyed(t, nil)
	again.begin(`{"session":"s"}`)
	again.wants(again.do("", "POST", "/v1/sessions/s/facts", `{"spoke":true}`, "Stopgate-Session-Key", key), 204)
	other := keyed(t, func(o *decide.Options) { o.SessionSecret = []byte(strings.Repeat("x", 32)) })
	other.begin(`{"session":"s"}`)
	other.wants(other.do("", "POST", "/v1/sessions/s/facts", `{"spoke":true}`, "Stopgate-Session-Key", key), 403, `"session_key_invalid"`)
	none := keyed(t, func(o *decide.Options) { o.SessionSecret = nil })
	if a := none.wants(none.do("", "POST", "/v1/sessions", ""), 201); a.get("key") != nil {
		t.Error("a gate without a secret gives keys")
	}
	none.wants(none.do("", "POST", "/v1/sessions/s/facts", `{"spoke":true}`, "Stopgate-Session-Key", key), 403)
}

// Proves S5, H16: the program that began a session answers questions of its own calls; what was shown
// is what runs. Without the key there is no approver.
func TestProgramAnswers(t *testing.T) {
	d := keyed(t, nil)
	id, key := d.begin("")
	_, otherKey := d.begin("")
	call := fmt.Sprintf(asked, id)
	header := []string{"Stopgate-Session-Key", key, "Stopgate-Approver", "program", "Prefer", "wait=30, args-text"}
	d.wants(d.do("", "POST", "/v1/calls", call), 200, `"no_approver"`)
	d.wants(d.do("", "POST", "/v1/calls", call, "Stopgate-Approver", "program"), 403, `"session_key_invalid"`)
	d.wants(d.do("", "POST", "/v1/calls", call, "Stopgate-Approver", "program", "Stopgate-Session-Key", otherKey), 403, `"session_key_invalid"`)
	d.wants(d.do("", "POST", "/v1/calls", call, "Stopgate-Approver", "model", "Stopgate-Session-Key", key), 400, `"bad_approver"`)
	ask := func() (a answer, question, seen string) {
		t.Helper()
		a = d.wants(d.do("", "POST", "/v1/calls", call, header...), 202, `"complete":true`, `"args":"{\"path\":\"README\"}"`)
		return a, "/v1/approvals/" + a.get("approval", "id").(string), a.get("approval", "seen").(string)
	}
	a, question, seen := ask()
	d.wants(d.do("", "GET", question, "", header[:2]...), 200, `"waiting"`)
	for _, wrong := range [][]string{nil, {"Stopgate-Session-Key", otherKey}} {
		d.wants(d.do("", "GET", question, "", wrong...), 403)
		d.wants(d.do("", "POST", question, `{"answer":"approve","seen":"`+seen+`"}`, wrong...), 403)
	}
	d.wants(d.do("", "GET", "/v1/approvals/nothing", "", header[:2]...), 403, `"session_key_invalid"`)
	d.wants(d.do("", "POST", question, `{"answer":"approve"}`, header[:2]...), 400, `"member_missing"`)
	d.wants(d.do("", "POST", question, `{"answer":"approve","seen":"other"}`, header[:2]...), 409, `"approval_stale"`)
	d.wants(d.do("", "POST", question, `{"answer":"approve","seen":"`+seen+`","grant":{}}`, header[:2]...), 400, `"bad_answer"`)
	d.wants(d.do("", "POST", question, `{"answer":"approve","seen":"`+seen+`"}`, header[:2]...), 200, `"via":"program"`, `"by":"program"`)
	look := "/v1/calls/" + a.get("id").(string)
	d.wants(d.do("", "GET", look, "", "Prefer", "wait=10, args-text"), 200, `"allowed"`, `"args_text":"{\"path\":\"README\"}"`)

	a, question, seen = ask()
	d.wants(d.do("", "POST", question, `{"answer":"edit","args":{"path":"src/a"},"seen":"`+seen+`"}`, header[:2]...), 200)
	d.wants(d.do("", "GET", "/v1/calls/"+a.get("id").(string), "", "Prefer", "wait=10, args-text"), 200, `"allowed"`, `"args_text":"{\"path\":\"src/a\"}"`, `"edited":true`)
	a, question, _ = ask()
	d.wants(d.do("", "POST", question, `{"answer":"deny","reason":"not now"}`, header[:2]...), 200)
	d.wants(d.do("", "GET", "/v1/calls/"+a.get("id").(string), "", "Prefer", "wait=10, args-text"), 200, `"denied"`, "not now")
}

// Proves S5: an operator keeps programs from answering; persons whom the policy names, or several of
// them, are not replaced by a program.
func TestProgramMayNotAnswer(t *testing.T) {
	off := keyed(t, func(o *decide.Options) { o.Programs = false })
	id, key := off.begin("")
	off.wants(off.do("", "POST", "/v1/calls", fmt.Sprintf(asked, id), "Stopgate-Session-Key", key, "Stopgate-Approver", "program"), 403, `"programs_may_not_answer"`)
	off.wants(off.do("", "POST", "/v1/sessions/"+id+"/facts", `{"approved":"plan"}`, "Stopgate-Session-Key", key), 403, `"programs_may_not_answer"`)
	off.wants(off.do("", "POST", "/v1/sessions/"+id+"/facts", `{"spoke":true}`, "Stopgate-Session-Key", key), 204)

	for name, e := range map[string]struct {
		requirement approve.Requirement
		code        string
	}{
		"persons": {approve.Requirement{Who: []approve.People{{Principal: []string{"*"}}}}, "not_an_approver"},
		"groups":  {approve.Requirement{Who: []approve.People{{Group: []string{"*"}}}}, "not_an_approver"},
		"others":  {approve.Requirement{Others: true}, "own_call"},
	} {
		entry := approve.Entry{ID: "q", Principal: "local", State: approve.Waiting, Complete: true, Requirement: e.requirement, Asked: time.Now(), Expires: time.Now().Add(time.Hour)}
		d := keyed(t, func(o *decide.Options) {
			store := new(mem.Approvals)
			queue, err := approve.New(store, approve.Options{})
			if err != nil {
				t.Fatal(err)
			}
			entry.Session = "s"
			if _, err := store.AddEntry(context.Background(), entry, func(approve.Entry) bool { return false }); err != nil {
				t.Fatal(err)
			}
			o.Queue = queue
		})
		_, key := d.begin(`{"session":"s"}`)
		d.wants(d.do("", "POST", "/v1/approvals/q", `{"answer":"approve","seen":"`+entry.Binding.Hash()+`"}`, "Stopgate-Session-Key", key), 403, e.code)
		if e.requirement.ByProgram() {
			t.Errorf("%s: the answer of a program is enough", name)
		}
	}
	if (approve.Requirement{Approvals: 2}).ByProgram() || !(approve.Requirement{Approvals: 1}).ByProgram() {
		t.Error("one program is several approvers, or none")
	}
}

// Proves S1, S54: in a stream the program has the question while the arguments still arrive, may refuse
// then, and approves only what is complete.
func TestProgramAnswersStream(t *testing.T) {
	d := keyed(t, nil)
	id, key := d.begin("")
	server := httptest.NewServer(d.local)
	defer server.Close()
	for _, early := range []bool{true, false} {
		body, send := io.Pipe()
		r, err := http.NewRequest("POST", server.URL+"/v1/calls/stream", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Stopgate-Session-Key", key)
		r.Header.Set("Stopgate-Approver", "program")
		r.Header.Set("Prefer", "wait=30, args-text")
		go fmt.Fprintf(send, "{\"tool\":\"write\",\"session\":%q}\n{\"path\":\"README\",", id)
		in, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(in.Body)
		next := func(want string) map[string]any {
			t.Helper()
			for lines.Scan() {
				var l map[string]any
				if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
					t.Fatal(err)
				}
				if l[want] != nil {
					return l[want].(map[string]any)
				}
			}
			t.Fatalf("the response ended without %s: %v", want, lines.Err())
			return nil
		}
		q := next("approval")
		path := "/v1/approvals/" + q["id"].(string)
		if q["complete"] != false {
			t.Error("the arguments are complete before their end")
		}
		d.wants(d.do("", "POST", path, `{"answer":"approve","seen":"x"}`, "Stopgate-Session-Key", key), 409, `"arguments_incomplete"`)
		if early {
			d.wants(d.do("", "POST", path, `{"answer":"deny"}`, "Stopgate-Session-Key", key), 200)
		} else {
			go func() {
				io.WriteString(send, `"content":"x"}`)
				send.Close()
			}()
			q = next("approval")
			d.wants(d.do("", "POST", path, `{"answer":"approve","seen":"`+q["seen"].(string)+`"}`, "Stopgate-Session-Key", key), 200)
		}
		call := next("call")
		if want := map[bool]string{true: "denied", false: "allowed"}[early]; call["status"] != want {
			t.Errorf("early %t: %v", early, call)
		}
		if !early && call["args_text"] != `{"path":"README","content":"x"}` {
			t.Errorf("args_text %v", call["args_text"])
		}
		send.Close()
		in.Body.Close()
	}
}

// The description of the gate is for programs of this machine.
func TestDescription(t *testing.T) {
	d := newFixture(t, nil)
	d.wants(d.do("", "GET", "/v1/gate", ""), 200, `"path":"/p/stopgate.toml"`, `"programs":false`)
	d.wants(d.do("op", "GET", "/v1/gate", ""), 403, `"scope_missing"`)
}

// Two identical calls of a program have a question each, and each answer releases its own call.
func TestIdenticalCallsOfAProgram(t *testing.T) {
	d := keyed(t, nil)
	id, key := d.begin("")
	var calls []answer
	for range 2 {
		calls = append(calls, d.wants(d.do("", "POST", "/v1/calls", fmt.Sprintf(asked, id), "Stopgate-Session-Key", key, "Stopgate-Approver", "program"), 202))
	}
	for i, want := range []string{"allowed", "denied"} {
		text := map[string]string{"allowed": `{"answer":"approve","seen":"` + calls[i].get("approval", "seen").(string) + `"}`, "denied": `{"answer":"deny"}`}[want]
		d.wants(d.do("", "POST", "/v1/approvals/"+calls[i].get("approval", "id").(string), text, "Stopgate-Session-Key", key), 200)
		d.wants(d.do("", "GET", "/v1/calls/"+calls[i].get("id").(string), "", "Prefer", "wait=10"), 200, want)
	}
}

// Proves S4, S5: who begins a session first, under a name that was guessed, does not approve the calls of
// the program that the session was meant for.
func TestKeyDoesNotApproveCallsOfOthers(t *testing.T) {
	d := keyed(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	present, left := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(left)
		_ = d.queue.Watch(ctx, func([]approve.Entry) error {
			select {
			case present <- struct{}{}:
			default:
			}
			return nil
		})
	}()
	defer func() { leave(); <-left }()
	<-present
	_, key := d.begin(`{"session":"ticket-7"}`)
	d.wants(d.do("", "POST", "/v1/sessions", `{"session":"ticket-7"}`), 409, `"session_exists"`)
	a := d.wants(d.do("", "POST", "/v1/calls", fmt.Sprintf(asked, "ticket-7")), 202)
	question := "/v1/approvals/" + a.get("approval", "id").(string)
	seen := d.wants(d.do("", "GET", question, "", "Stopgate-Session-Key", key), 200).get("seen").(string)
	for _, reply := range []string{`{"answer":"approve","seen":"` + seen + `"}`, `{"answer":"edit","args":{"path":"src/a"},"seen":"` + seen + `"}`} {
		d.wants(d.do("", "POST", question, reply, "Stopgate-Session-Key", key), 403, `"not_an_approver"`)
	}
	d.wants(d.do("", "POST", question, `{"answer":"deny"}`, "Stopgate-Session-Key", key), 200, `"declined"`)
}
