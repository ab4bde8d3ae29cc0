package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves G8: which texts are valid messages.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		text, id, method string
		kind             jsonrpc.Kind
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"a/b","params":{}}`, `1`, "a/b", jsonrpc.Request},
		{" {\"jsonrpc\":\"2.0\",\n\"id\":\"x\",\"method\":\"a\"} \r\n", `"x"`, "a", jsonrpc.Request},
		{`{"jsonrpc":"2.0","id":"\u0078","method":"a"}`, `"x"`, "a", jsonrpc.Request},
		{`{"jsonrpc":"2.0","id":-12345678901234567890,"method":"a"}`, `-12345678901234567890`, "a", jsonrpc.Request},
		{`{"jsonrpc":"2.0","id":"","method":"a"}`, `""`, "a", jsonrpc.Request},
		{`{"jsonrpc":"2.0","method":"notifications/x"}`, ``, "notifications/x", jsonrpc.Notification},
		{`{"jsonrpc":"2.0","id":1,"result":{},"x":1}`, `1`, "", jsonrpc.Response},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, `1`, "", jsonrpc.ErrorResponse},
		{`{"jsonrpc":"2.0","method":"a","_x":{"Method":1},"params":{"x":{"Name":1,"name":2},"names":1}}`, ``, "a", jsonrpc.Notification},
	} {
		m, err := jsonrpc.Read([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if m.Kind != c.kind || string(m.ID) != c.id || m.Method != c.method {
			t.Errorf("%s: %+v", c.text, m)
		}
	}
	for text, want := range map[string]jsonrpc.Error{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}`: {ID: "1", Method: "tools/call", Tool: "a"},
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","Name":"b"}}`: {ID: "7", Method: "tools/call", Tool: "a"},
		`[{"jsonrpc":"2.0"}]`:                 {Batch: true},
		`{`:                                   {Parse: true},
		``:                                    {Parse: true},
		`{"jsonrpc":"2.0","id":1}`:            {ID: "1"},
		`{"jsonrpc":"2.0","id":1,"result":7}`: {ID: "1"},
		`{"jsonrpc":"2.0","result":{}}`:       {},
		`{"jsonrpc":"2.0","id":null,"result":{}}`:                                      {},
		`{"jsonrpc":"2.0","id":1,"params":{}}`:                                         {ID: "1"},
		`{"jsonrpc":"2.0","id":1,"error":"x"}`:                                         {ID: "1"},
		`{"jsonrpc":"2.0","id":-0,"method":"a"}`:                                       {ID: "-0", Method: "a"},
		`{"jsonrpc":"2.0","id":1,"method":""}`:                                         {ID: "1"},
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 2000) + `","method":"a"}`:      {Method: "a"},
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"ProgressToken":1}}}`: {ID: "1", Method: "a"},
		`{"jsonrpc":"2.0","id":1,"result":{"Content":[]}}`:                             {ID: "1"},
	} {
		m, err := jsonrpc.Read([]byte(text))
		var e *jsonrpc.Error
		if !errors.As(err, &e) {
			t.Errorf("%.80s is read: %+v", text, m)
			continue
		}
		got := *e
		got.Detail = ""
		if got != want {
			t.Errorf("%.80s: %+v, want %+v", text, got, want)
		}
		if e.Error() == "jsonrpc: " || strings.Contains(e.Error(), "tools") {
			t.Errorf("%.80s: %v", text, e)
		}
	}
}

// Proves L2: changes are splices; everything else stays byte for byte, on one line.
func TestEdit(t *testing.T) {
	m, err := jsonrpc.Read([]byte("{ \"jsonrpc\":\"2.0\",\n \"id\" : 1, \"x\": 1.0, \"method\":\"a\",\r\n\"params\":{\"list\":[1, {\"a\":1} ,3],\"cursor\":\"c\",\"_meta\":{}}}"))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := m.Params.Get("list")
	meta, _ := m.Params.Get("_meta")
	e := m.Edit().Set(m.Params, "requestState", []byte(`"s"`)).Set(m.Params, "list2", []byte(`2`)).ID(`"q"`).Add(meta, "k", []byte("1"))
	e.RemoveElements(list, func(v jsonstream.Value) bool {
		if v.Kind() == jsonstream.Object {
			a, _ := v.Get("a")
			e.Replace(a, []byte("7"))
			return false
		}
		return true
	})
	e.Remove(m.Params, func(name string) bool { return name == "cursor" })
	got, err := e.Text()
	want := `{ "jsonrpc":"2.0",  "id" : "q", "x": 1.0, "method":"a",  "params":{"requestState":"s","list2":2,"list":[{"a":7}],"_meta":{"k":1}}}`
	if err != nil || string(got) != want {
		t.Errorf("got\n%s, %v\nwant\n%s", got, err, want)
	}
	if !bytes.Contains(m.Text, []byte("\r\n")) {
		t.Error("the message's own text changed")
	}
	if _, err := m.Edit().Replace(list, nil).Replace(list, nil).Text(); err == nil {
		t.Error("edits overlap")
	}
}

// The messages that the gate itself writes.
func TestWrite(t *testing.T) {
	for got, want := range map[string]string{
		string(jsonrpc.AppendResult(nil, `"a"`, []byte(`{}`))):          `{"jsonrpc":"2.0","id":"a","result":{}}`,
		string(jsonrpc.AppendError(nil, "", -1, "a\"b", nil)):           `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"a\"b"}}`,
		string(jsonrpc.AppendError(nil, "1", -1, "m", []byte("[]"))):    `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[]}}`,
		string(jsonrpc.AppendRequest(nil, "", "n", nil)):                `{"jsonrpc":"2.0","method":"n"}`,
		string(jsonrpc.AppendRequest(nil, "1", "n", []byte(`{"a":1}`))): `{"jsonrpc":"2.0","id":1,"method":"n","params":{"a":1}}`,
		string(jsonrpc.SingleLine([]byte("{\r\n}"))):                    `{  }`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if jsonrpc.ParseID(jsonstream.Value{}) != "" {
		t.Error("nothing is an id")
	}
	tool := func(text string) bool {
		v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
		return err == nil && jsonrpc.HasExactNames(v)
	}
	if !tool(`{"name":"a","x":1}`) || tool(`{"name":"a","Name":"b"}`) || tool(`7`) {
		t.Error("which definitions are exact")
	}
}

// FuzzRead compares accepted messages with the standard library, which must read the same.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1}}}`,
		`{"jsonrpc":"2.0","id":1,"Method":"x","method":"y"}`, `{"jsonrpc":"2.0","id":"\u0031","result":{}}`, `[]`, `{"jsonrpc":"2.0","method":"ſ"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := jsonrpc.Read(text)
		if err != nil {
			if !errors.As(err, new(*jsonrpc.Error)) {
				t.Fatalf("%T", err)
			}
			return
		}
		// encoding/json folds case and uses the last of several equal members, as lenient
		// readers do.
		var loose struct {
			JSONRPC string
			Method  string
			Params  struct{ Name json.RawMessage }
		}
		if err := json.Unmarshal(text, &loose); err != nil {
			t.Fatalf("accepted, but %v", err)
		}
		if loose.JSONRPC != "2.0" || loose.Method != m.Method {
			t.Fatalf("%q read as %q", m.Method, loose.Method)
		}
		if m.Params.IsValid() {
			name, ok := m.Params.Get("name")
			if ok != (loose.Params.Name != nil) || ok && string(name.Raw()) != string(loose.Params.Name) {
				t.Fatalf("name %s read as %s", name.Raw(), loose.Params.Name)
			}
		}
		again, err := m.Edit().ID("9").Text()
		if err != nil || bytes.ContainsAny(again, "\r\n") {
			t.Fatalf("%q, %v", again, err)
		}
		if n, err := jsonrpc.Read(again); err != nil || n.Method != m.Method || n.Kind != m.Kind {
			t.Fatalf("%q is not read again: %v", again, err)
		}
	})
}

// Proves G8, A4, A5, A6: a member whose name a lenient reader confuses with a known one is
// refused.
func TestLookalikes(t *testing.T) {
	for name, lookalike := range map[string]bool{
		"Name": true, "NAME": true, "name\x00": true, "name\x00x": true, "na\x00me": true, " name": true, "name ": true, "name\t": true, "name\x7f": true,
		"n\u200bame": true, "name\u00ad": true, "\ufeffname": true, "name\u00a0": true, "ｎame": true, "name\u2028": true, "name" + strings.Repeat("\u200b", 60): true,
		"name" + strings.Repeat(" ", 200): true,
		"names":                           false, "nam": false, "n-ame": false, "x\x00name": false, "náme": false, "name" + strings.Repeat("x", 200): false, "na me x": false,
	} {
		quoted := string(jsonstream.AppendQuote(nil, []byte(name)))
		for _, text := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a",` + quoted + `:"b"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + quoted + `:"b","name":"a"}}`,
		} {
			if _, err := jsonrpc.Read([]byte(text)); (err != nil) != lookalike {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	for name, lookalike := range map[string]bool{
		"Method": true, "method\x00": true, "method ": true, "ｍethod": true, "met\u00adhod": true, "paramſ": true, "Params": true, "\u212abc": false, "x": false,
	} {
		text := `{"jsonrpc":"2.0","id":1,"method":"ping",` + string(jsonstream.AppendQuote(nil, []byte(name))) + `:{}}`
		if _, err := jsonrpc.Read([]byte(text)); (err != nil) != lookalike {
			t.Errorf("%s: %v", text, err)
		}
	}
	for method, strange := range map[string]bool{
		"tools/call": false, "ping": false, "x/y": false, "tools/list": false, "my/call": false,
		"Tools/Call": true, "tools/call ": true, "tools/call\x00": true, "tools//call": true, "/tools/call": true, "tools\\call": true, "tools.call": true, "tools/ca\u200bll": true,
		"my/Call": true, "my.call": true, "tools/call/": true,
	} {
		if got := jsonrpc.IsLookalikeMethod(method); got != strange {
			t.Errorf("%q: %t", method, got)
		}
	}
}
