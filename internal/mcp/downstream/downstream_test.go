package downstream_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stopgate/stopgate/internal/mcp/downstream"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

func message(t *testing.T, text string) *jsonrpc.Message {
	t.Helper()
	m, err := jsonrpc.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// server records the messages that are sent to it.
type server struct{ sent []string }

func (s *server) Send(_ context.Context, _ string, text []byte) {
	s.sent = append(s.sent, string(text))
}

// Proves that an id can be open once only, that a cancellation ends exactly its request, and that
// initialize cannot be cancelled.
func TestRequests(t *testing.T) {
	c := downstream.New(nil, false)
	begin := func(text string) (context.Context, *downstream.Request, bool) {
		x := downstream.NewRequest(message(t, text), func([]byte) bool { return true })
		ctx, ok := c.Begin(t.Context(), x, false)
		return ctx, x, ok
	}
	first, _, _ := begin(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	second, x, _ := begin(`{"jsonrpc":"2.0","id":"1","method":"ping"}`)
	if _, _, ok := begin(`{"jsonrpc":"2.0","id":"\u0031","method":"ping"}`); ok {
		t.Error("two open requests have one id")
	}
	c.Cancel(`1`)
	c.Cancel(`"1"`)
	if first.Err() != nil || !errors.Is(context.Cause(second), downstream.ErrCancelled) || x.Send(nil) {
		t.Errorf("cancelled: %v %v", first.Err(), second.Err())
	}
	c.Finish(x)
	if _, _, ok := begin(`{"jsonrpc":"2.0","id":"1","method":"ping"}`); !ok {
		t.Error("the id of a finished request cannot be used again")
	}
	c.Close()
	if _, _, ok := begin(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); ok || first.Err() == nil {
		t.Error("a closed client has open requests")
	}
}

// Proves that a response, a cancellation or progress reaches only the server whose request it is
// about, under the server's own id, and a response only once.
func TestAsked(t *testing.T) {
	var toClient []string
	c := downstream.New(func(text []byte) bool { toClient = append(toClient, string(text)); return true }, false)
	a, b := new(server), new(server)
	idA := c.Ask(&downstream.Asked{Server: a, ID: "7", Token: `"t"`})
	c.Ask(&downstream.Asked{Server: b, ID: "7"})
	c.Progress(t.Context(), message(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`))
	response := message(t, `{"jsonrpc":"2.0","id":`+string(idA)+`,"result":{}}`)
	if !c.Respond(t.Context(), response) || c.Respond(t.Context(), response) {
		t.Error("a response counts once")
	}
	if len(a.sent) != 2 || a.sent[1] != `{"jsonrpc":"2.0","id":7,"result":{}}` || len(b.sent) != 0 {
		t.Errorf("a received %q, b %q", a.sent, b.sent)
	}
	c.CancelAsked(a, message(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`))
	if toClient != nil {
		t.Errorf("a cancelled the request of b: %q", toClient)
	}
	c.CancelAsked(b, message(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`))
	if len(toClient) != 1 || toClient[0] != `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"stopgate-2"}}` {
		t.Errorf("%q", toClient)
	}
}

// Proves that the client is notified once of a changed list until it requests the list.
func TestChanged(t *testing.T) {
	var c downstream.Changed
	list := downstream.ListOf("notifications/tools/list_changed")
	if list != "tools" || !c.Notify(list) || c.Notify(list) {
		t.Error("repeated notifications")
	}
	if c.Requested("tools/list"); !c.Notify(list) {
		t.Error("a change after the request is not notified")
	}
	if c.Clear(); !c.Notify(list) {
		t.Error("a notification that the client may have missed is not repeated")
	}
}
