package gateway

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"time"
)

// lastWords is how long exchanges have, after the drain, to write their error
// events and records.
const lastWords = 5 * time.Second

// Serve serves a listener until ctx ends. Then it takes no more connections, lets
// exchanges finish for the time of Timeouts.Drain, ends the rest with an error
// event, and returns when all of them are over.
func (g *Gateway) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler:           g,
		ReadHeaderTimeout: g.conf.Load().settings.Timeouts.Header,
		MaxHeaderBytes:    64 << 10,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          log.New(logWriter{g}, "", 0),
		TLSConfig:         g.tls.Clone(),
	}
	failed := make(chan error, 1)
	go func() {
		if srv.TLSConfig != nil {
			failed <- srv.ServeTLS(ln, "", "")
		} else {
			failed <- srv.Serve(ln)
		}
	}()
	select {
	case err := <-failed:
		g.Close()
		return err
	case <-ctx.Done():
	}
	limit := g.conf.Load().settings.Timeouts.Drain
	g.log.Info("draining", "exchanges", g.exchanges.Load(), "limit", limit)
	err := shutdown(srv, g.drain(srv, limit))
	g.Close()
	if err != nil {
		err = shutdown(srv, lastWords)
	}
	if err != nil {
		err = srv.Close()
	}
	<-failed // Serve returned when the listener was closed
	return err
}

// often is how often a drain looks whether it is over.
const often = 10 * time.Millisecond

// drain waits until no exchange is left, while new ones are told to come back later, and
// returns what is left of the limit.
func (g *Gateway) drain(srv *http.Server, limit time.Duration) time.Duration {
	until := time.Now().Add(limit)
	g.draining.Store(true)
	srv.SetKeepAlivesEnabled(false)
	ticker := time.NewTicker(often)
	defer ticker.Stop()
	for g.exchanges.Load() > 0 && time.Now().Before(until) {
		<-ticker.C
	}
	return max(time.Until(until), often)
}

func shutdown(srv *http.Server, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := srv.Shutdown(ctx)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// logWriter passes the server's own complaints on as they are: they name
// addresses, never content.
type logWriter struct{ g *Gateway }

func (w logWriter) Write(p []byte) (int, error) {
	w.g.log.Debug("http", "message", string(p))
	return len(p), nil
}
