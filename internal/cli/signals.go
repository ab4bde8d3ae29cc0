package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// OutlivePipes keeps the process alive when the reader of its output is gone: writes return an
// error, and the command cleans up. The signal is caught, and not ignored: programs that are
// started would inherit that, and pipelines in them rely on it.
func OutlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// Interruptible ends a command's work at SIGINT, SIGTERM and further signals, unless the process
// was started with them ignored, as by nohup. A second signal ends the process at once. Commands
// without cleanup do not need it.
func Interruptible(ctx context.Context, also ...os.Signal) (context.Context, context.CancelFunc) {
	also = slices.DeleteFunc(also, signal.Ignored)
	ctx, stop := signal.NotifyContext(ctx, append(also, os.Interrupt, syscall.SIGTERM)...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
