package operate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/relay/local"
	"github.com/stopgate/stopgate/internal/store/location"
	"github.com/stopgate/stopgate/internal/system/socket"
)

// apiServer is the decision API of a running gate: the machine's own programs on a
// socket, others with a token.
type apiServer struct {
	server *decide.Server
	local  *socket.Listener // nil for none
	remote net.Listener     // nil for none
	pipe   *local.Pipe      // within this process; nil for none
}

// openAPI listens. Without a usable path for the socket it warns, and listens without one.
func openAPI(a tables.APITable, server *decide.Server, log *slog.Logger) (*apiServer, error) {
	d := &apiServer{server: server}
	path := a.Socket
	if path == "" {
		var err error
		if path, err = tables.DefaultSocket(); err != nil {
			return nil, err
		}
		if len(path) > socket.MaxPath-8 {
			log.Warn("no socket for the decision API: its path would be too long; name another one with --api-socket", "path", path)
			path = tables.NoSocket
		}
	}
	var err error
	if path != tables.NoSocket {
		if d.local, err = socket.Listen(path); err != nil {
			return nil, socketError(err)
		}
	}
	if a.Listen == "" {
		return d, nil
	}
	if d.remote, err = net.Listen("tcp", a.Listen); err != nil {
		err = cli.Hinted(fmt.Errorf("listen on %s: %w", a.Listen, err), "choose another address with --api-listen")
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// socketError adds a remedy to an error of opening the socket.
func socketError(err error) error {
	hint := "choose another path with --api-socket, or --api-socket none"
	if errors.Is(err, socket.ErrInUse) {
		hint = "another stopgate up or serve runs: stop it, or give this one a socket of its own with --api-socket PATH, or none with --api-socket none"
	}
	return cli.Hinted(fmt.Errorf("decision API: %w", err), hint)
}

// urls returns the addresses of the API, nil for those that it does not have.
func (d *apiServer) urls() (api, local *string) {
	if d.local != nil {
		local = new((&url.URL{Scheme: "unix", Path: filepath.ToSlash(d.local.Path())}).String())
	}
	if d.remote != nil {
		return new("http://" + d.remote.Addr().String()), local
	}
	return local, local
}

// pages returns the address of the pages for a browser, nil without them.
func (d *apiServer) pages(public string) *string {
	if d.remote == nil || !d.server.Pages() {
		return nil
	}
	if public == "" {
		public = "http://" + d.remote.Addr().String()
	}
	return new(strings.TrimSuffix(public, "/") + "/approvals")
}

// serve answers until the server closes.
func (d *apiServer) serve() error {
	ended := make(chan error, 3)
	waiting := 0
	if d.pipe != nil {
		waiting++
		go func() { ended <- d.server.ServeLocal(d.pipe) }()
	}
	if d.local != nil {
		waiting++
		go func() { ended <- d.server.ServeLocal(d.local) }()
	}
	if d.remote != nil {
		waiting++
		go func() { ended <- d.server.Serve(d.remote) }()
	}
	var errs []error
	for range waiting {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}

// closeTimeout is how long requests have to end when the API closes.
const closeTimeout = 5 * time.Second

// stop closes the API.
func (d *apiServer) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return errors.Join(d.server.Close(ctx), d.close())
}

// close closes the listeners.
func (d *apiServer) close() (err error) {
	var errs []error
	if d.pipe != nil {
		errs = append(errs, d.pipe.Close())
	}
	if d.local != nil {
		errs = append(errs, d.local.Close())
	}
	if d.remote != nil {
		errs = append(errs, d.remote.Close())
	}
	for _, e := range errs {
		if !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// rowReader reads rows for the API from a store or a file.
type rowReader struct{ location, gate string }

// Rows implements [decide.Records].
func (l rowReader) Rows(ctx context.Context, chain string, after int64, limit int) (rows []stopgate.Record, err error) {
	log, err := records.Open(ctx, l.location)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	add := func(r records.Row) bool {
		rows = append(rows, r.Record)
		return len(rows) < limit
	}
	if location.IsFile(l.location) && chain == "" {
		_, err = log.Rows(ctx, records.After(after), nil, add)
		return rows, err
	}
	if chain == "" {
		heads, err := log.Heads(ctx)
		own := slices.IndexFunc(heads, func(h records.Head) bool { return h.Gate == l.gate })
		if err != nil || own < 0 { // nothing was written yet
			return nil, err
		}
		chain = heads[own].Chain
	}
	err = log.ChainRows(ctx, chain, after, add)
	return rows, err
}

// ready is the line that up prints when it listens; it changes only by addition.
type ready struct {
	Gateway string  `json:"gateway"`
	API     *string `json:"api"`
	Socket  *string `json:"api_socket,omitempty"`
	// Console is where people answer questions in a browser, null for nowhere.
	Console *string `json:"console"`
}
