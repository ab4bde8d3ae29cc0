package texts

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
)

// maxResults limits the results of one response that wait for Flush, in bytes. The rest is content
// that the gate does not know.
const maxResults = 16 << 20

// Result takes the result of a tool that ran at the provider, from the response.
func (r *Report) Result(data []byte, opaque bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size+len(data) > maxResults {
		data, opaque = nil, true
	}
	r.size += len(data)
	r.results = append(r.results, gate.Text{Result: &flow.Result{Data: bytes.Clone(data), Opaque: opaque}})
}

// Message takes the id of a message of the model. A reference to it in a later request hides no text.
func (r *Report) Message(id string) {
	if r != nil && id != "" {
		r.tracker.messages.Put(writtenKey(r.Owner.Principal, []byte(id)), struct{}{})
	}
}

// hidden returns the content of the request that the gate does not know: all of Unseen, except
// references to messages that a model wrote for the principal.
func (r *Report) hidden() []string {
	return slices.DeleteFunc(r.Unseen, func(what string) bool {
		id, ok := strings.CutPrefix(what, Item)
		if !ok {
			return false
		}
		_, known := r.tracker.messages.Get(writtenKey(r.Owner.Principal, []byte(id)))
		return known
	})
}

// Item begins the id of a referenced item in [Request.Unseen].
const Item = "item "

// Flush reports the results of the response so far, and returns the conversation of a call that
// opens then.
func (r *Report) Flush(ctx context.Context) string {
	if r == nil {
		return ""
	}
	r.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.results; len(list) > 0 && r.lost == "" {
		r.results, r.size = nil, 0
		if err := r.give(ctx, list, false); err != nil {
			r.lose(err)
		}
	}
	return r.conversation()
}

// End reports the rest of the results. id is the id by which a client can continue the response, ""
// if it cannot. It is called before the client receives the end of the response.
func (r *Report) End(ctx context.Context, id string) {
	if r == nil {
		return
	}
	if r.Named {
		id = "" // the session is continued
	}
	if r.pending() || id != "" {
		r.Flush(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if id != "" && !r.ended && r.branch != nil && r.lost == "" {
		r.ended = true
		r.tracker.put(r, responseKey(id))
	}
}

func (r *Report) pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.results) > 0
}
