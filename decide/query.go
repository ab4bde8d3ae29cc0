package decide

import (
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxListed limits the entries of a list.
const maxListed = 1000

// checkQuery rejects unknown query parameters: a misspelled filter would list everything.
func checkQuery(r *http.Request, known []string) *problem {
	for name := range r.URL.Query() {
		if slices.Contains(known, name) {
			continue
		}
		detail := "there is no parameter " + strconv.Quote(name)
		if len(known) > 0 {
			detail += "; there are " + strings.Join(known, ", ")
		}
		return badRequest("unknown_parameter", detail)
	}
	return nil
}

// position decodes ?after=.
func position(r *http.Request) (uint64, *problem) {
	text := r.URL.Query().Get("after")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, badRequest("bad_position", "after must be a position, a number")
	}
	return n, nil
}

// limit decodes ?limit=.
func limit(r *http.Request) (int, *problem) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return maxListed, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxListed {
		return 0, badRequest("bad_limit", "limit must be a number from 1 to "+strconv.Itoa(maxListed))
	}
	return n, nil
}

// canonicalPaths rejects paths that are not in canonical form as not found. ServeMux would redirect
// them, which only browsers need.
func canonicalPaths(mux *http.ServeMux) http.Handler {
	lost := unknownRoute(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain := path.Clean(r.URL.Path) == r.URL.Path || strings.HasPrefix(r.URL.Path, "/approvals/") // people type these addresses
		if r.Method == http.MethodConnect || !plain {
			lost(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// unknownRoute responds to unmatched requests: 405 if the path exists with another method, else
// 404.
func unknownRoute(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var methods []string
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" && path.Clean(r.URL.Path) == r.URL.Path {
				methods = append(methods, method)
			}
		}
		if len(methods) == 0 {
			notFound("there is no " + r.Method + " " + r.URL.Path + "; GET /v1/openapi.yaml lists what there is").write(w)
			return
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		(&problem{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Detail: "there is no " + r.Method + " " + r.URL.Path + ", but " + strings.Join(methods, " and "),
		}).write(w)
	}
}
