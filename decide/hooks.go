package decide

import "net/http"

// hookRoute handles /v1/hooks: events of coding agents, as their hooks receive them.
type hookRoute struct{ events http.Handler }

func (h *hookRoute) add(route addRoute) {
	route("POST /v1/hooks", onSocket, h.serve)
	route("GET /v1/hooks", onSocket, h.serve)
}

func (h *hookRoute) serve(w http.ResponseWriter, r *http.Request, _ caller) *problem {
	h.events.ServeHTTP(w, r)
	return nil
}
