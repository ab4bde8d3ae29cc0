package merge

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// List is a list that is merged from several pages.
type List struct {
	Member string // of the results that contains the list
	TTL    int64  // how long the client may cache it, in milliseconds
	items  []byte
}

// Add adds one page, the text of a response. It returns false if the page contains no list.
func (j *List) Add(page []byte) bool {
	m, err := jsonrpc.Read(page)
	if err != nil || !m.Result.IsValid() {
		return false
	}
	list, ok := m.Result.Get(j.Member)
	if !ok || list.Kind() != jsonstream.Array {
		return false
	}
	for v := range list.Elements() {
		if len(j.items) > 0 {
			j.items = append(j.items, ',')
		}
		j.items = append(j.items, v.Raw()...)
	}
	var ms int64
	if ttl, ok := m.Result.Get("ttlMs"); ok {
		if d, ok := ttl.Decimal(); ok {
			ms, _ = d.Int64()
		}
	}
	j.TTL = max(min(j.TTL, ms), 0)
	return true
}

// Result returns the result of the list request.
func (j *List) Result(modern bool) []byte {
	var o jsonrpc.Object
	o.Raw(j.Member, bytes.Join([][]byte{{'['}, j.items, {']'}}, nil))
	if modern {
		o.Text("resultType", "complete").Int("ttlMs", j.TTL).Text("cacheScope", "private")
	}
	return o.End()
}
