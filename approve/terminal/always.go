package terminal

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/approve/frame"
)

// always answers with a grant. Without a choice it first shows the grants that are offered.
func (s *session) always(ctx context.Context, e approve.Entry, rest string) (done bool) {
	var scope approve.Scope
	pointer, text, wider := strings.Cut(rest, "=")
	n, numeric := strconv.Atoi(rest)
	switch {
	case rest == "" || numeric == nil && s.offered != e.ID:
		s.offered = e.ID
		return s.say("%s", offers(e))
	case numeric == nil:
		list := e.Extensions()
		if n < 1 || n > len(list) {
			return s.say("There is no %d in the list. Nothing was answered.", n)
		}
		scope.Wider = list[n-1].Wider
	case rest == "yes":
	case wider:
		how := approve.Below
		for _, l := range e.Leaves {
			if l.Pointer == pointer && (l.Type == "command" || l.Type == "argv") {
				how = approve.Words
			}
		}
		scope.Wider = []approve.Value{{Pointer: pointer, How: how, Text: text}}
	default:
		return s.say(`Type a with a number of the list that "a" prints, "a /path=DIRECTORY" or "a /command=WORDS". Nothing was answered.`)
	}
	got, g, err := s.queue.Grant(ctx, e.ID, approve.Reply{By: s.By, Via: approve.ViaTerminal, Seen: e.Binding.Hash()}, scope)
	if err != nil {
		return s.say("Not granted: %s.", message(err))
	}
	if got.State == approve.Waiting {
		s.deferred[e.ID] = true
		fmt.Fprintln(s.Out, confirmations[got.State])
		return true
	}
	fmt.Fprintf(s.Out, "Approved. Grant %s holds until %s; stopgate grants revoke %s takes it back.\n", g.ID, g.Expires.Local().Format("15:04"), g.ID)
	return true
}

// offers lists the grants for a question.
func offers(e approve.Entry) string {
	list := frame.Offers(e)
	if list == nil {
		_, err := e.Extension("exact")
		return "No grant is possible for this call: y and n answer it. (" + message(err) + ")"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Not asked again in this session, for %s:\n", frame.Span(approve.DefaultGrant))
	for i, o := range list {
		fmt.Fprintf(&b, "  a %d  %s\n       %s\n", i+1, o.Title, o.Sentence)
		if o.Example != "" {
			fmt.Fprintf(&b, "       for example %s\n", o.Example)
		}
	}
	b.WriteString(`Type a and the number, or wider "a /path=DIRECTORY" or "a /command=WORDS".`)
	return b.String()
}
