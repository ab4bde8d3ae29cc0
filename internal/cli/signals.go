package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// OutlivePipes keeps the process alive where nobody reads its output any more: who writes
// gets an error, and puts away what there is. The signal is caught, and not ignored: programs
// that are started would inherit that, and pipelines in them rely on its end.
func OutlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// Interruptible ends a command's work at SIGINT, SIGTERM and what else is named, unless who
// started the process has it ignore that, as nohup does. A second signal ends the process at
// once. Commands that hold nothing to put away do without it.
func Interruptible(ctx context.Context, also ...os.Signal) (context.Context, context.CancelFunc) {
	also = slices.DeleteFunc(also, signal.Ignored)
	ctx, stop := signal.NotifyContext(ctx, append(also, os.Interrupt, syscall.SIGTERM)...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
