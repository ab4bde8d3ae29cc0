package process

import (
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/store/kinds"
)

// unrecorded saves the row of a call that is denied without a gate. It does not use the store,
// which may be unavailable: the next process that opens it moves the row into the chain.
func (w *wiring) unrecorded(e *hook.Event, code stopgate.Code) {
	settings, err := place.Of(nil, config.Set{}, w.flags.Place)
	if known := w.settings.Load(); known != nil {
		settings, err = *known, nil
	}
	if err != nil || settings.Store == place.Memory {
		return
	}
	row, err := gate.Refusal(e.Call, code, time.Now())
	if err == nil {
		err = kinds.Spool(settings.Store, settings.Records, &row)
	}
	if err != nil {
		fmt.Fprintf(w.log, "stopgate: the denial cannot be recorded: %v\n", err)
	}
}
