package decide_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/stopgate/stopgate/decide"
)

// contract is openapi.yaml.
type contract struct {
	doc struct {
		Paths      map[string]map[string]operation
		Components struct {
			Schemas       map[string]any
			RequestBodies map[string]body `yaml:"requestBodies"`
			Responses     map[string]response
		}
	}
}

type operation struct {
	OperationID string `yaml:"operationId"`
	RequestBody *body  `yaml:"requestBody"`
	Responses   map[string]response
}

type body struct {
	Ref      string `yaml:"$ref"`
	Required bool
	Content  map[string]struct{ Schema any }
}

type response struct {
	Ref     string `yaml:"$ref"`
	Content map[string]struct{ Schema any }
}

func readContract(t *testing.T) *contract {
	t.Helper()
	c := new(contract)
	if err := yaml.Unmarshal(decide.OpenAPI, &c.doc); err != nil {
		t.Fatal(err)
	}
	return c
}

// find returns the operation of a request.
func (c *contract) find(r *http.Request) (name string, op operation, ok bool) {
	given := strings.Split(r.URL.Path, "/")
	best := ""
	for path := range c.doc.Paths {
		parts := strings.Split(path, "/")
		fits := len(parts) == len(given)
		for i := 0; fits && i < len(parts); i++ {
			fits = parts[i] == given[i] || strings.HasPrefix(parts[i], "{") && given[i] != ""
		}
		if fits && (best == "" || strings.Contains(best, "{")) {
			best = path
		}
	}
	op, ok = c.doc.Paths[best][strings.ToLower(r.Method)]
	return r.Method + " " + best, op, ok
}

// check validates a JSON text against a schema of the contract.
func (c *contract) check(t *testing.T, name string, schema any, text []byte) {
	t.Helper()
	whole, err := json.Marshal(map[string]any{"$ref": "#/$defs/it", "$defs": map[string]any{"it": schema}})
	if err != nil {
		t.Fatal(err)
	}
	defs, err := json.Marshal(c.doc.Components.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	// The components become definitions of one schema.
	local := strings.ReplaceAll(string(whole), "#/components/schemas/", "#/$defs/")
	local = strings.TrimSuffix(local, "}") // put "it" beside them
	var s struct {
		Ref  string                     `json:"$ref"`
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(local+"}"), &s); err != nil {
		t.Fatal(err)
	}
	var others map[string]json.RawMessage
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(defs), "#/components/schemas/", "#/$defs/")), &others); err != nil {
		t.Fatal(err)
	}
	for name, def := range others {
		s.Defs[name] = def
	}
	joined, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	parsed := new(jsonschema.Schema)
	if err := json.Unmarshal(joined, parsed); err != nil {
		t.Fatalf("%s: the schema: %v", name, err)
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: the schema: %v", name, err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Errorf("%s: %v: %s", name, err, text)
		return
	}
	if err := resolved.Validate(value); err != nil {
		t.Errorf("%s breaks the contract: %v\n%s", name, err, text)
	}
}

// transport checks every exchange against the contract.
type transport struct {
	t        *testing.T
	contract *contract
	handler  http.Handler
}

func (x transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		sent, _ = io.ReadAll(r.Body)
	}
	r.Body = io.NopCloser(bytes.NewReader(sent))
	w := httptest.NewRecorder()
	x.handler.ServeHTTP(w, r)
	x.check(r, sent, w)
	return w.Result(), nil
}

func (x transport) check(r *http.Request, sent []byte, w *httptest.ResponseRecorder) {
	x.t.Helper()
	name, op, ok := x.contract.find(r)
	if !ok {
		if w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			x.t.Errorf("%s %s is not in the contract and answers %d", r.Method, r.URL.Path, w.Code)
		}
		return
	}
	status := strconv.Itoa(w.Code)
	answer, known := op.Responses[status]
	if !known {
		status, answer = "default", op.Responses["default"]
	}
	if answer.Ref != "" {
		answer = x.contract.doc.Components.Responses[strings.TrimPrefix(answer.Ref, "#/components/responses/")]
	}
	kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	content, ok := answer.Content[kind]
	switch {
	case len(answer.Content) == 0 && w.Body.Len() == 0:
	case !ok:
		x.t.Errorf("%s %s answers %q, which is not in the contract: %s", name, status, kind, w.Body)
	case strings.HasSuffix(kind, "json"):
		for text := range bytes.Lines(w.Body.Bytes()) {
			x.contract.check(x.t, name+" "+status, content.Schema, text)
		}
	}
	if w.Code/100 != 2 || op.RequestBody == nil {
		return
	}
	b := *op.RequestBody
	if b.Ref != "" {
		b = x.contract.doc.Components.RequestBodies[strings.TrimPrefix(b.Ref, "#/components/requestBodies/")]
	}
	if content, ok := b.Content["application/json"]; ok && (b.Required || len(sent) > 0) {
		x.contract.check(x.t, name+" request", content.Schema, sent)
	}
}
