package approve

import "context"

// programKey is the key of a context value.
type programKey struct{}

// WithProgram returns a context for the calls of a program that answers its own questions: they are
// asked even if no other approver is present.
func WithProgram(ctx context.Context) context.Context {
	return context.WithValue(ctx, programKey{}, true)
}

func programPresent(ctx context.Context) bool { return ctx.Value(programKey{}) != nil }

// ByProgram reports whether the answer of the program that proposed a call is enough. It is none of
// the persons that a requirement names, nor another person than the one who proposed the call.
func (q Requirement) ByProgram() bool {
	return len(q.Who) == 0 && !q.Others && q.Approvals <= 1
}
