package decide

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// problem is an error response of the API (RFC 9457). Code is the stable name for programs; Detail
// is for people.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// Error implements error.
func (p *problem) Error() string { return p.Code + ": " + p.Detail }

func (p *problem) write(w http.ResponseWriter) {
	p.Title = http.StatusText(p.Status)
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	// Marshalling four strings and a number cannot fail.
	text, _ := json.Marshal(p)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	w.Write(append(text, '\n'))
}

func badRequest(code, detail string) *problem {
	return &problem{Status: http.StatusBadRequest, Code: code, Detail: detail}
}

func notFound(detail string) *problem {
	return &problem{Status: http.StatusNotFound, Code: "not_found", Detail: detail}
}

// unavailable reports a failing part of the gate without its internal error.
func unavailable(what string) *problem {
	return &problem{Status: http.StatusServiceUnavailable, Code: "unavailable", Detail: what + " cannot be used now; nothing was allowed"}
}

// writeJSON writes a value as a JSON response.
func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := encode(v)
	if err != nil {
		unavailable("the answer").write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(text)
}

// encode marshals a value as one line of JSON without HTML escaping: the hash of the allowed
// arguments covers these bytes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
