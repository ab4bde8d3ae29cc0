package link

import "context"

// Opener connects to a server. It is called once per client connection and again after a failure.
type Opener interface {
	Open(ctx context.Context, e Events) (Link, error)
}

// OpenFunc is a function as an [Opener].
type OpenFunc func(ctx context.Context, e Events) (Link, error)

// Open implements [Opener].
func (f OpenFunc) Open(ctx context.Context, e Events) (Link, error) { return f(ctx, e) }

// String implements [fmt.Stringer].
func (f OpenFunc) String() string { return "MCP server" }
