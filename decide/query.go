package decide

import (
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxListed is how many entries a list shows.
const maxListed = 1000

// asks refuses what a route does not know: a filter that is spelled wrong would show
// everything.
func asks(r *http.Request, known []string) *problem {
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

// position reads ?after=.
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

// limit reads ?limit=.
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

// plainly answers requests for addresses that are written in one way only, and the others
// as those that there are not: a redirect to the plain one is for browsers.
func plainly(mux *http.ServeMux) http.Handler {
	lost := nowhere(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain := path.Clean(r.URL.Path) == r.URL.Path || strings.HasPrefix(r.URL.Path, "/approvals/") // people type these
		if r.Method == http.MethodConnect || !plain {
			lost(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// nowhere answers what no route does: with 405 where another method would do.
func nowhere(mux *http.ServeMux) http.HandlerFunc {
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
