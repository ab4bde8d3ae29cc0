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

	"github.com/stopgate/stopgate/internal/system/httpserver"
)

// shutdownGrace is the time after draining in which exchanges write their error events and rows.
const shutdownGrace = 5 * time.Second

// Serve serves a listener until ctx ends. Then it closes the listener, lets exchanges finish within
// Timeouts.Drain, ends the others with an error event, and returns when all have ended.
func (g *Gateway) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler:           g,
		ReadHeaderTimeout: g.conf.Load().settings.Timeouts.Header,
		MaxHeaderBytes:    64 << 10,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          Complaints(g.log),
		TLSConfig:         g.serverTLS(),
	}
	httpserver.CloseUnused(srv)
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
		err = shutdown(srv, shutdownGrace)
	}
	g.idle(time.Now().Add(shutdownGrace)) // background reads end at once and are recorded
	if err != nil {
		err = srv.Close()
	}
	<-failed // Serve has returned because the listener was closed
	return err
}

// pollInterval is the interval in which draining checks for running exchanges.
const pollInterval = 10 * time.Millisecond

// drain waits until no exchange is running, while new ones are refused, and returns the remaining
// time.
func (g *Gateway) drain(srv *http.Server, limit time.Duration) time.Duration {
	until := time.Now().Add(limit)
	g.draining.Store(true)
	srv.SetKeepAlivesEnabled(false)
	g.idle(until)
	return max(time.Until(until), pollInterval)
}

// idle waits until no exchange is running, including those whose client is gone.
func (g *Gateway) idle(until time.Time) {
	ticker := time.NewTicker(pollInterval)
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

// Complaints returns a logger for the errors of an HTTP server: failures to accept connections are
// logged as warnings, at most once per second, all others at debug level. The lines contain
// addresses and no content.
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
