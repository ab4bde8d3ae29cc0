package decide

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// maxFirstLine limits the first line of a streamed call, which names the tool.
const maxFirstLine = 1 << 20

// line is one line of a streamed response.
type line struct {
	// Verdict is the current verdict. An unattended verdict is provisional: only Call allows the
	// call (D26).
	Verdict *verdictJSON `json:"verdict,omitempty"`
	// Received is the number of argument bytes that Verdict is based on.
	Received int64 `json:"received,omitempty"`
	// Approval is the question, for the program that answers it: once while arguments arrive, and
	// once when they are complete.
	Approval *approvalJSON `json:"approval,omitempty"`
	// Call is the decision, on the last line.
	Call *decisionJSON `json:"call,omitempty"`
}

// stream handles POST /v1/calls/stream. The body is one line of JSON that names the tool, followed
// by the argument text as it arrives. The response is a line of JSON for every change of the
// verdict and one for the decision. A denial ends the response while the body is still being sent,
// so the client can stop the model.
func (s *callRoutes) stream(w http.ResponseWriter, r *http.Request, who caller) *problem {
	want, bad := preferencesOf(r)
	if bad != nil {
		return bad
	}
	control := http.NewResponseController(w)
	in := bufio.NewReaderSize(r.Body, 32<<10)
	first, bad := firstLine(in)
	if bad != nil {
		return bad
	}
	m, bad := object(first, callMembers...)
	if bad != nil {
		return bad
	}
	call, bad := callOf(m, who)
	if bad != nil {
		return bad
	}
	program, bad := s.keys.approver(r, who, call.Session)
	if bad != nil {
		return bad
	}
	open, err := s.gate.Open(r.Context(), call)
	if err != nil {
		return unavailable("the gate")
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	p := &submission{owner: who.name, call: call, program: program, decided: make(chan struct{})}
	if program {
		s.keys.own.Store(open.ID(), true)
	}
	out := &lines{w: w, flush: control.Flush}
	out.err = control.Flush() // the client may wait for the headers before it sends more
	body := receive(in, control)
	defer body.end()
	end := s.feed(r.Context(), p, open, body, out)
	open.Close(end)
	if out.err != nil { // the client no longer reads the response
		s.keys.own.Delete(open.ID())
		open.Cancel(context.WithoutCancel(r.Context()))
		return nil
	}
	out.verdict(open.Verdict(), p.bytes)
	s.run(r.Context(), p, open)
	answer, done := s.waitFor(r.Context(), p, want.wait, p.program)
	if !done && want.wait > 0 && answer.Approval.complete() {
		out.write(line{Approval: answer.Approval, Received: p.bytes})
		answer, _ = s.waitFor(r.Context(), p, want.wait, false)
	}
	answer = answer.as(want)
	out.write(line{Call: &answer})
	if out.err == nil {
		body.discard()
	}
	return nil
}

// feed passes the arguments to the gate as they arrive, until they end or the verdict can no longer
// change. A person's answer does not wait for the next byte of the body.
func (s *callRoutes) feed(ctx context.Context, p *submission, open *gate.Pending, body *upload, out *lines) stopgate.End {
	asked := false
	var question <-chan *approvalJSON
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := open.Done()
	v := open.Verdict()
	for {
		out.verdict(v, p.bytes)
		if v.Terminal() && open.Enforced() || out.err != nil {
			return stopgate.Cancelled
		}
		if v.Decided && !v.Mode.Permissive() && !asked {
			asked = true
			open.Ask(s.asking(p)) // Resolve reports its errors
			if p.program {
				question = s.questions(ctx, open.ID())
			}
		}
		select {
		case <-done:
			done = nil
			v = open.Verdict()
		case q, ok := <-question:
			question = nil
			if ok && !q.complete() {
				out.write(line{Approval: q, Received: p.bytes})
			}
		case next := <-body.pieces:
			if len(next.data) > 0 {
				p.bytes += int64(len(next.data))
				v = open.Feed(next.data)
			}
			switch {
			case next.err == nil:
			case errors.Is(next.err, io.EOF):
				return stopgate.Ended
			default:
				return stopgate.Failed
			}
		}
	}
}

// lines writes the lines of a response, one for every change.
type lines struct {
	w     io.Writer
	flush func() error
	last  stopgate.Verdict
	err   error
}

// verdict writes a verdict that changed and is not terminal.
func (l *lines) verdict(v stopgate.Verdict, received int64) {
	if !v.Decided || v.Mode == l.last.Mode && v.Code == l.last.Code && l.last.Decided && len(v.Floors) == len(l.last.Floors) {
		return
	}
	l.last = v
	known := verdictOf(v)
	l.write(line{Verdict: &known, Received: received})
}

func (l *lines) write(x line) {
	if l.err != nil {
		return
	}
	text, err := encode(x)
	if err == nil {
		_, err = l.w.Write(text)
	}
	if err == nil {
		err = l.flush()
	}
	l.err = err
}

// firstLine reads up to the first line feed.
func firstLine(in *bufio.Reader) ([]byte, *problem) {
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxFirstLine:
			return nil, &problem{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Detail: "the first line is too long"}
		case err == nil:
			return text, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, badRequest("malformed_body", "the body begins with one line of JSON that names the tool, and ends it with a line feed")
		}
	}
}
