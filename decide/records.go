package decide

import (
	"context"
	"net/http"

	"github.com/stopgate/stopgate"
)

// Records reads audit rows for operators.
type Records interface {
	// Rows returns up to limit rows of a chain after a sequence number, oldest first. "" is the only
	// chain, or the one of this gate in a store of several gates.
	Rows(ctx context.Context, chain string, after int64, limit int) ([]stopgate.Record, error)
}

// recordRoute serves the audit log.
type recordRoute struct{ rows Records }

func (s *recordRoute) add(route addRoute) {
	route("GET /v1/records", Operate, s.records, "after", "chain", "limit")
}

// records handles GET /v1/records.
func (s *recordRoute) records(w http.ResponseWriter, r *http.Request, _ caller) *problem {
	after, bad := position(r)
	if bad != nil {
		return bad
	}
	most, bad := limit(r)
	if bad != nil {
		return bad
	}
	rows, err := s.rows.Rows(r.Context(), r.URL.Query().Get("chain"), int64(after), most)
	if err != nil {
		return unavailable("the records")
	}
	if rows == nil {
		rows = []stopgate.Record{}
	}
	writeJSON(w, http.StatusOK, map[string][]stopgate.Record{"records": rows})
	return nil
}
