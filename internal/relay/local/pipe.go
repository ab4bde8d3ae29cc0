package local

import (
	"context"
	"net"
	"sync"
)

// Pipe is a listener within this process, for systems where peers cannot be checked: the gate is then
// part of the program that asks it.
type Pipe struct {
	accept chan net.Conn
	closed chan struct{}
	close  func()
}

// NewPipe returns a listener.
func NewPipe() *Pipe {
	p := &Pipe{accept: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

// Dial connects to the listener.
func (p *Pipe) Dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accept <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, problem("this process", net.ErrClosed)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept implements [net.Listener].
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *Pipe) Close() error {
	p.close()
	return nil
}

// Addr implements [net.Listener].
func (*Pipe) Addr() net.Addr { return address{} }
