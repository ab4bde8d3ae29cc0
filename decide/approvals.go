package decide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/jsonstream"
)

// states are the states of questions.
var states = []approve.State{approve.Waiting, approve.Approved, approve.Edited, approve.Declined, approve.Used, approve.Withdrawn}

// approvalRoutes serves questions and grants.
type approvalRoutes struct {
	queue *approve.Queue
	keys  *sessionKeys
	life  context.Context // canceled when the server closes
}

func (s *approvalRoutes) add(route addRoute) {
	route("GET /v1/approvals", Approve|ownSession, s.questions, "state", "session", "principal")
	route("GET /v1/approvals/watch", Approve, s.watch)
	route("GET /v1/approvals/{id}", Approve|ownSession, s.question)
	route("POST /v1/approvals/{id}", Approve|ownSession, s.reply)
	route("GET /v1/grants", Approve, s.grants, "all", "tool", "principal")
	route("DELETE /v1/grants/{id}", Approve, s.revoke)
}

// questions handles GET /v1/approvals.
func (s *approvalRoutes) questions(w http.ResponseWriter, r *http.Request, who caller) *problem {
	q := r.URL.Query()
	if who.session != "" {
		if bad := errForeign(r); bad != nil {
			return bad
		}
		q.Set("principal", string(who.name))
	}
	f := approve.Filter{
		State: approve.State(q.Get("state")), Session: stopgate.SessionID(q.Get("session")),
		Principal: stopgate.Principal(q.Get("principal")), Limit: maxListed,
	}
	if f.State != "" && !slices.Contains(states, f.State) {
		return badRequest("unknown_state", "there is no state "+strconv.Quote(string(f.State))+"; there are "+strings.Trim(fmt.Sprint(states), "[]"))
	}
	if f.State == approve.Waiting {
		f.Live = time.Now()
	}
	list, err := s.queue.List(r.Context(), f)
	if err != nil {
		return unavailable("the store of approvals")
	}
	writeJSON(w, http.StatusOK, map[string][]entry{"approvals": entries(list)})
	return nil
}

// entry is the JSON form of a question.
type entry struct {
	approve.Entry
	// Seen is the hash of the binding. A client that sends it back answers the question that it was
	// shown.
	Seen string `json:"seen,omitempty"`
	// Extensions are the grants to offer with a question that waits, the most useful first.
	Extensions []approve.Extension `json:"extensions,omitempty"`
}

func entryOf(e approve.Entry) entry {
	out := entry{Entry: e}
	if e.Complete {
		out.Seen = e.Binding.Hash()
	}
	if e.Complete && e.State == approve.Waiting {
		out.Extensions = e.Extensions()
	}
	return out
}

func entries(list []approve.Entry) []entry {
	out := make([]entry, len(list))
	for i, e := range list {
		out[i] = entryOf(e)
	}
	return out
}

// question handles GET /v1/approvals/{id}.
func (s *approvalRoutes) question(w http.ResponseWriter, r *http.Request, _ caller) *problem {
	e, err := s.queue.Entry(r.Context(), r.PathValue("id"))
	if err != nil {
		return refused(err)
	}
	writeJSON(w, http.StatusOK, entryOf(e))
	return nil
}

// watch handles GET /v1/approvals/watch. It sends the list of waiting questions as a line of JSON,
// at the start and after every change. A connected watcher counts as an available approver, so
// calls are asked instead of denied (S5).
func (s *approvalRoutes) watch(w http.ResponseWriter, r *http.Request, _ caller) *problem {
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	defer context.AfterFunc(s.life, stop)()
	w.Header().Set("Content-Type", "application/x-ndjson")
	control := http.NewResponseController(w)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	err := s.queue.Watch(ctx, func(list []approve.Entry) error {
		if err := out.Encode(map[string][]entry{"approvals": entries(list)}); err != nil {
			return err
		}
		return control.Flush()
	})
	if ctx.Err() == nil && err != nil {
		out.Encode(unavailable("the store of approvals"))
	}
	return nil
}

// reply handles POST /v1/approvals/{id}: approve, deny, or approve with edited arguments, once or
// with a grant.
func (s *approvalRoutes) reply(w http.ResponseWriter, r *http.Request, who caller) *problem {
	m, bad := members(w, r, "answer", "reason", "seen", "args", "grant")
	if bad != nil {
		return bad
	}
	kind, bad := text(m, "answer", true)
	if bad != nil {
		return bad
	}
	if who.session != "" {
		return s.programReply(w, r, m, kind)
	}
	answer := approve.Reply{By: string(who.name), Principal: who.name, Groups: who.groups, Via: approve.ViaAPI}
	grant, lasting := m["grant"]
	if bad := readAnswer(m, kind, lasting, &answer); bad != nil {
		return bad
	}
	id := r.PathValue("id")
	if !lasting {
		return s.give(w, r, answer)
	}
	scope, extension, bad := scopeOf(grant)
	if bad != nil {
		return bad
	}
	if extension != "" {
		asked, err := s.queue.Entry(r.Context(), id)
		if err != nil {
			return refused(err)
		}
		named, err := asked.Extension(extension)
		if err != nil {
			return refused(err)
		}
		scope.Wider = named.Wider
	}
	e, g, err := s.queue.Grant(r.Context(), id, answer, scope)
	switch {
	case errors.Is(err, approve.ErrNotKept):
		return &problem{Status: http.StatusServiceUnavailable, Code: "unavailable", Detail: "the call is approved, this once; the grant could not be kept"}
	case err != nil:
		return refused(err)
	}
	answered := map[string]any{"approval": entryOf(e)}
	if g.ID != "" { // otherwise others have to approve, too
		answered["grant"] = g
	}
	writeJSON(w, http.StatusOK, answered)
	return nil
}

// readAnswer decodes an answer: approve, deny, or edit with arguments.
func readAnswer(m map[string]jsonstream.Value, kind string, lasting bool, answer *approve.Reply) (bad *problem) {
	if answer.Reason, bad = nameMember(m, "reason", false, maxReason); bad != nil {
		return bad
	}
	if answer.Seen, bad = text(m, "seen", false); bad != nil {
		return bad
	}
	args, edited := m["args"]
	switch {
	case kind == "approve" && !edited:
		answer.Kind = approve.Yes
	case kind == "edit" && edited && !lasting:
		answer.Kind, answer.Args = approve.With, args.Raw()
	case kind == "deny" && !edited && !lasting:
	default:
		return badRequest("bad_answer", `answer is "approve" (with grant, if it is for the future), "deny", or "edit" with args`)
	}
	return nil
}

// give gives an answer for one call.
func (s *approvalRoutes) give(w http.ResponseWriter, r *http.Request, answer approve.Reply) *problem {
	e, err := s.queue.Answer(r.Context(), r.PathValue("id"), answer)
	if err != nil {
		return refused(err)
	}
	writeJSON(w, http.StatusOK, map[string]any{"approval": entryOf(e)})
	return nil
}

// programReply handles the answer of a program that has the key of the question's session. It answers
// for one call: grants are given by persons. A yes is for the question that was shown to it.
func (s *approvalRoutes) programReply(w http.ResponseWriter, r *http.Request, m map[string]jsonstream.Value, kind string) *problem {
	if !s.keys.programs {
		return errPrograms()
	}
	answer := approve.Reply{By: program, Via: approve.ViaProgram, Program: true}
	_, lasting := m["grant"]
	if lasting {
		return badRequest("bad_answer", "a program answers one call: a grant needs a token with the scope approve")
	}
	if bad := readAnswer(m, kind, false, &answer); bad != nil {
		return bad
	}
	if answer.Kind != approve.No && answer.Seen == "" {
		return badRequest("member_missing", "seen is required: the member of the question that was shown")
	}
	if answer.Kind != approve.No {
		e, err := s.queue.Entry(r.Context(), r.PathValue("id"))
		if err != nil {
			return refused(err)
		}
		if e.Requirement.ByProgram() && !s.keys.proposed(e) {
			return &problem{Status: http.StatusForbidden, Code: "not_an_approver", Detail: "a program approves only calls that it has proposed with " + approverHeader + ": program"}
		}
	}
	return s.give(w, r, answer)
}

// scopeOf decodes the scope of a grant: {"seconds", "uses", "all_sessions", "wider"}, or the name of an
// extension of the question instead of the values.
func scopeOf(v jsonstream.Value) (scope approve.Scope, extension string, bad *problem) {
	wrong := badRequest("bad_grant", `a grant has seconds, uses, all_sessions, and extension: the name of one of the question's extensions, or wider: [{"pointer", "how": "below", "words" or "like", "text"}]`)
	if v.Kind() != jsonstream.Object {
		return scope, "", wrong
	}
	for key, member := range v.Members() {
		switch name := key.Text(); {
		case (name == "seconds" || name == "uses") && member.Kind() == jsonstream.Number:
			n, ok := positiveInt(member)
			if !ok {
				return scope, "", wrong
			}
			if name == "uses" {
				scope.Limit = n
			} else {
				scope.For = time.Duration(n) * time.Second
			}
		case name == "all_sessions" && (member.Kind() == jsonstream.True || member.Kind() == jsonstream.False):
			scope.AllSessions = member.Kind() == jsonstream.True
		case name == "wider" && member.Kind() == jsonstream.Array:
			for element := range member.Elements() {
				wide, ok := wider(element)
				if !ok {
					return scope, "", wrong
				}
				scope.Wider = append(scope.Wider, wide)
			}
		case name == "extension" && member.Kind() == jsonstream.String && member.Text() != "":
			extension = member.Text()
		default:
			return scope, "", wrong
		}
	}
	if extension != "" && scope.Wider != nil {
		return scope, "", wrong
	}
	return scope, extension, nil
}

func wider(v jsonstream.Value) (w approve.Value, ok bool) {
	if v.Kind() != jsonstream.Object {
		return w, false
	}
	for key, member := range v.Members() {
		if member.Kind() != jsonstream.String {
			return w, false
		}
		switch key.Text() {
		case "pointer":
			w.Pointer = member.Text()
		case "how":
			w.How = approve.How(member.Text())
		case "text":
			w.Text = member.Text()
		default:
			return w, false
		}
	}
	return w, true
}

// positiveInt decodes a whole number from 1 to a million.
func positiveInt(v jsonstream.Value) (n int, ok bool) {
	for _, c := range v.Raw() {
		if c < '0' || c > '9' || n > 1_000_000 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, 0 < n && n <= 1_000_000
}

// grants handles GET /v1/grants.
func (s *approvalRoutes) grants(w http.ResponseWriter, r *http.Request, _ caller) *problem {
	q := r.URL.Query()
	f := approve.GrantFilter{Principal: stopgate.Principal(q.Get("principal")), Tool: stopgate.ToolName(q.Get("tool"))}
	if q.Get("all") == "" {
		f.Live = time.Now()
	}
	list, err := s.queue.Grants(r.Context(), f)
	if err != nil {
		return unavailable("the store of approvals")
	}
	if list == nil {
		list = []approve.Grant{}
	}
	writeJSON(w, http.StatusOK, map[string][]approve.Grant{"grants": list})
	return nil
}

// revoke handles DELETE /v1/grants/{id}.
func (s *approvalRoutes) revoke(w http.ResponseWriter, r *http.Request, _ caller) *problem {
	g, err := s.queue.Revoke(r.Context(), r.PathValue("id"))
	if err != nil {
		return refused(err)
	}
	writeJSON(w, http.StatusOK, g)
	return nil
}

// refused converts the error of an answer to a problem.
func refused(err error) *problem {
	for _, known := range []struct {
		err    error
		status int
		code   string
	}{
		{approve.ErrUnknown, http.StatusNotFound, "not_found"},
		{approve.ErrAnswered, http.StatusConflict, "already_answered"},
		{approve.ErrUsed, http.StatusConflict, "already_used"},
		{approve.ErrStale, http.StatusConflict, string(stopgate.CodeApprovalStale)},
		{approve.ErrOwn, http.StatusForbidden, "own_call"},
		{approve.ErrTwice, http.StatusForbidden, "already_approved"},
		{approve.ErrNotAllowed, http.StatusForbidden, "not_an_approver"},
		{approve.ErrDiffers, http.StatusConflict, "other_arguments"},
		{approve.ErrIncomplete, http.StatusConflict, "arguments_incomplete"},
		{approve.ErrExpired, http.StatusGone, "expired"},
		{approve.ErrNoEdit, http.StatusBadRequest, "bad_edit"},
		{approve.ErrNoGrant, http.StatusUnprocessableEntity, "no_grant"},
	} {
		if errors.Is(err, known.err) {
			return &problem{Status: known.status, Code: known.code, Detail: err.Error()}
		}
	}
	return unavailable("the store of approvals")
}
