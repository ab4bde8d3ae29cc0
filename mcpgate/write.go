package mcpgate

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

// envelopeText returns the text of a denial that the model reads (G2-15, S10).
func envelopeText(e stopgate.Envelope) []byte {
	var o jsonrpc.Object
	return o.Text("status", e.Status).Text("code", string(e.Code)).Text("publicReason", e.PublicReason).Raw("data", []byte("null")).End()
}

// implementation returns the gateway's name and version.
func (g *Gateway) implementation() []byte {
	var o jsonrpc.Object
	return o.Text("name", "stopgate").Text("version", g.version).End()
}
