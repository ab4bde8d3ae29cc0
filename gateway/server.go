package gateway

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
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
		ErrorLog:          Complaints(g.log),
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
	g.idle(time.Now().Add(lastWords)) // what is read on ends at once, and is recorded
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
	g.idle(until)
	return max(time.Until(until), often)
}

// idle waits until no exchange is left, not even one whose client is gone.
func (g *Gateway) idle(until time.Time) {
	ticker := time.NewTicker(often)
	defer ticker.Stop()
	for g.exchanges.Load() > 0 && time.Now().Before(until) {
		<-ticker.C
	}
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

// Complaints passes what an HTTP server says of its connections on to a log: as a warning
// that it can take none, which is at most one in a second, and the rest for who debugs. They
// name addresses, never content.
func Complaints(to *slog.Logger) *log.Logger { return log.New(complaints{to}, "", 0) }

type complaints struct{ to *slog.Logger }

func (c complaints) Write(p []byte) (int, error) {
	text := strings.TrimSuffix(string(p), "\n")
	if what, ok := strings.CutPrefix(text, "http: Accept error: "); ok {
		c.to.Warn("no connection can be taken", "error", what)
	} else {
		c.to.Debug("http", "message", text)
	}
	return len(p), nil
}
