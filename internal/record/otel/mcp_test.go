package otel_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/stopgate/stopgate/internal/record/otel"
	"github.com/stopgate/stopgate/mcpgate"
)

// The request of an MCP client is a server span, the one to a server a client span below it;
// neither has content.
func TestMCPSpans(t *testing.T) {
	kept := &keeping{}
	x := open(t, otel.Options{Exporter: kept})
	at := time.Now()
	in := &mcpgate.Observed{Method: "tools/call", Tool: "read", Version: "2025-11-25", ID: "seven", Began: at}
	out := &mcpgate.Observed{Outgoing: true, Method: "tools/call", Tool: "read", Server: "files", Began: at}
	ctx, end := x.Request(t.Context(), in)
	_, endOut := x.Request(ctx, out)
	out.Ended, out.Failure = at.Add(time.Second), "tool_error"
	endOut()
	in.Ended = at.Add(2 * time.Second)
	end()
	closed(t, x)
	if len(kept.spans) != 2 {
		t.Fatalf("%d spans", len(kept.spans))
	}
	client, server := kept.spans[0], kept.spans[1]
	if client.SpanKind != trace.SpanKindClient || server.SpanKind != trace.SpanKindServer || client.Parent.SpanID() != server.SpanContext.SpanID() || server.Name != "tools/call read" ||
		server.EndTime.Sub(server.StartTime) != 2*time.Second {
		t.Errorf("%+v\n%+v", client, server)
	}
	for k, want := range map[string]string{"mcp.method.name": "tools/call", "error.type": "tool_error", "stopgate.server": "files", "gen_ai.operation.name": "execute_tool"} {
		if got := attributes(client)[k]; got != want {
			t.Errorf("%s is %q, want %q", k, got, want)
		}
	}
	if got := attributes(server); got["error.type"] != "" || got["mcp.protocol.version"] != "2025-11-25" || got["jsonrpc.request.id"] != "seven" {
		t.Errorf("%v", got)
	}
}
