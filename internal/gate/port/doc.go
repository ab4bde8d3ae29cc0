// Package port calls the code that the gate does not control: stores, recorders, approvers,
// judges and policies in Go.
//
//	r := port.Invoke(ctx, &guard, 250*time.Millisecond, func(ctx context.Context) (T, error) {
//		return store.Load(ctx)
//	})
//	if r.Fault != port.None {
//		return deny(r.Fault) // an error, a panic, a missed deadline, too many calls that hang
//	}
//
// [Invoke] calls on a goroutine of its own, because code that ignores its context can be
// stopped in no other way; [Timed] and [Inline] call on the goroutine of the caller, for code
// that returns at once or when its context ends. [During] calls a port that several writers
// share: it waits for as long as the port advances, see [Stall]. None of them lets a panic
// through, and none accepts an answer that came after its deadline (I14, FM15).
package port
