package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/approve/frame"
	"github.com/stopgate/stopgate/internal/visible"
)

// refreshInterval is how often the list reloads, and formInterval how often one with a form to fill in
// does. A person with an open list counts as present for attendance such intervals (S5).
const (
	refreshInterval = 5 * time.Second
	formInterval    = 20 * time.Second
	attendance      = 3
)

// maxReason bounds a reason, in bytes: the model receives it.
const maxReason = 4096

// maxListed bounds the questions in the list.
const maxListed = 200

// requireLogin wraps a handler for people who are logged in.
func (p *Pages) requireLogin(h func(http.ResponseWriter, *http.Request, *session)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who := p.sessions.find(r, p.now())
		if who != nil {
			if name, _, ok := p.login(who.tokenHash); !ok || name != who.name { // the token was revoked
				p.sessions.remove(r)
				who = nil
			}
		}
		switch {
		case who == nil && r.Header.Get("Sec-Fetch-Site") == "cross-site":
			// The browser does not send the cookie after a link from another site; it does after a
			// reload by this page.
			p.render(w, http.StatusOK, message{Title: "one moment", Text: "Opening the question.", Again: r.URL.EscapedPath()})
		case who == nil:
			p.render(w, http.StatusUnauthorized, login{Next: r.URL.EscapedPath()})
		case r.Method == http.MethodPost && !who.validToken(r):
			p.render(w, http.StatusForbidden, message{Title: "not from here", Text: "The form is not one of yours, and was not taken."})
		default:
			h(w, r, who)
		}
	}
}

// logIn handles the login form.
func (p *Pages) logIn(w http.ResponseWriter, r *http.Request) {
	next := r.PostFormValue("next")
	if next != "/approvals" && !strings.HasPrefix(next, "/approvals/") || strings.ContainsAny(next, "\\?#") {
		next = "/approvals"
	}
	token := sha256.Sum256([]byte(strings.TrimSpace(r.PostFormValue("secret"))))
	name, _, ok := p.login(token)
	if !ok {
		p.render(w, http.StatusUnauthorized, login{Next: next, Wrong: true})
		return
	}
	http.SetCookie(w, p.cookie(r, p.sessions.add(name, token, p.now())))
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// logOut handles the logout form.
func (p *Pages) logOut(w http.ResponseWriter, r *http.Request, _ *session) {
	p.sessions.remove(r)
	http.SetCookie(w, p.cookie(r, ""))
	http.Redirect(w, r, "/approvals", http.StatusSeeOther)
}

func (p *Pages) list(w http.ResponseWriter, r *http.Request, who *session) {
	p.listing(w, r, who, http.StatusOK, "")
}

// listing renders the questions that wait, oldest first.
func (p *Pages) listing(w http.ResponseWriter, r *http.Request, who *session, status int, refusal string) {
	now := p.now()
	list, err := p.queue.List(r.Context(), approve.Filter{State: approve.Waiting, Live: now, Limit: maxListed})
	if err != nil {
		p.broken(w)
		return
	}
	page, refresh := listing{Name: visible.Text(who.name), Token: who.token(), Refusal: refusal}, refreshInterval
	var seen []string
	for i, e := range slices.Backward(list) {
		f := frame.Of(e, now, false)
		args := "(arriving)"
		if e.Complete {
			args = visible.Elide(strings.ReplaceAll(visible.Text(e.Args), `\\`, `\`), 120)
		}
		line := row{Number: len(list) - i, ID: e.ID, Tool: f.Tool, Args: args, Who: f.Who, Asked: f.Asked, Left: f.Left}
		if hash := e.Binding.Hash(); e.Complete && e.Mode == stopgate.Ask && who.hasRead(e.ID, hash) {
			line.Seen = hash
			seen = append(seen, e.ID, hash)
		}
		page.Rows = append(page.Rows, line)
	}
	if seen != nil {
		page.Seen = strings.Join(seen, " ")
		page.Code = who.code(together, page.Seen)
		refresh = formInterval
	}
	page.Refresh = int(refresh / time.Second)
	if err := p.queue.Attend(r.Context(), attendance*refresh); err != nil {
		p.broken(w)
		return
	}
	p.render(w, status, page)
}

func (p *Pages) show(w http.ResponseWriter, r *http.Request, who *session) {
	p.page(w, r, who, http.StatusOK, "")
}

// page renders a question in its current state.
func (p *Pages) page(w http.ResponseWriter, r *http.Request, who *session, status int, refusal string) {
	e, err := p.queue.Entry(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, approve.ErrUnknown):
		p.render(w, http.StatusNotFound, message{Title: "not found", Text: "There is no such question."})
		return
	case err != nil:
		p.broken(w)
		return
	}
	now := p.now()
	q := question{
		Frame: frame.Of(e, now, r.URL.Query().Get("all") != ""), Name: visible.Text(who.name), Token: who.token(),
		Open: e.State == approve.Waiting && now.Before(e.Expires), Complete: e.Complete,
		State: description(e, now), Refusal: refusal,
	}
	for _, v := range q.Values {
		q.Cut = q.Cut || v.Rest != ""
	}
	list, err := p.queue.List(r.Context(), approve.Filter{State: approve.Waiting, Live: now, Limit: maxListed})
	if err != nil {
		p.broken(w)
		return
	}
	q.Number, q.Waiting, q.Next = among(list, e.ID)
	switch {
	case q.Open && !q.Complete, e.State == approve.Approved, e.State == approve.Edited:
		q.Refresh = 2
	case q.Open:
		q.Seen = e.Binding.Hash()
		if !q.Hides { // a person who has not seen everything must not get the code to approve
			q.Code, q.Offers = who.code(e.ID, q.Seen), frame.Offers(e)
			who.read(e.ID, q.Seen)
		}
		q.Edit = q.Edit && e.Args != ""
		q.Editor = editable(e.Args)
	}
	p.render(w, status, q)
}

// description describes the state of a question, or returns "" while it waits.
func description(e approve.Entry, now time.Time) string {
	by := " by " + visible.Text(e.By)
	if e.Reason != "" {
		by += ": " + visible.Text(e.Reason)
	}
	switch {
	case e.State == approve.Used:
		return "Approved" + by + ". The call was let out."
	case e.State == approve.Withdrawn:
		return "Withdrawn: the call is gone or was denied."
	case e.State == approve.Declined:
		return "Denied" + by + "."
	case !now.Before(e.Expires):
		return "The time for an answer is over. Nothing ran."
	case e.State == approve.Approved:
		return "Approved" + by + ". The call has not been let out yet."
	case e.State == approve.Edited:
		return "Changed and approved" + by + ". The call has not been let out yet."
	}
	return ""
}

// answer handles the forms with an answer.
func (p *Pages) answer(w http.ResponseWriter, r *http.Request, who *session) {
	id, seen := r.PathValue("id"), r.PostFormValue("seen")
	_, groups, _ := p.login(who.tokenHash) // as they are now
	reply := approve.Reply{By: who.name, Principal: stopgate.Principal(who.name), Groups: groups, Via: approve.ViaPage, Reason: r.PostFormValue("reason"), Seen: seen}
	if len(reply.Reason) > maxReason {
		p.page(w, r, who, http.StatusBadRequest, "That reason is too long, and nothing was answered.")
		return
	}
	do := r.PostFormValue("do")
	if do != "deny" && (seen == "" || !who.validCode(r.PostFormValue("code"), id, seen)) {
		p.page(w, r, who, http.StatusForbidden, "The code was not the one that is shown, and nothing was answered. There is a new one.")
		return
	}
	var err error
	switch name, lasting := strings.CutPrefix(do, always); {
	case lasting:
		var e approve.Entry
		var scope approve.Scope
		if e, err = p.queue.Entry(r.Context(), id); err == nil {
			if scope, err = e.Extension(name); err == nil {
				_, _, err = p.queue.Grant(r.Context(), id, reply, scope)
			}
		}
	case do == "deny":
		_, err = p.queue.Answer(r.Context(), id, reply)
	case do == "approve":
		reply.Kind = approve.Yes
		_, err = p.queue.Answer(r.Context(), id, reply)
	case do == "edit":
		reply.Kind, reply.Args = approve.With, []byte(r.PostFormValue("args"))
		_, err = p.queue.Answer(r.Context(), id, reply)
	default:
		p.page(w, r, who, http.StatusBadRequest, "That was no answer.")
		return
	}
	if err != nil {
		p.page(w, r, who, statusOf(err), refusalText(err))
		return
	}
	http.Redirect(w, r, r.URL.EscapedPath(), http.StatusSeeOther)
}

// refusalText explains why an answer was refused.
func refusalText(err error) string {
	if errors.Is(err, approve.ErrStale) {
		return "The question has changed since you read it, and nothing was answered. This is what it is now."
	}
	if errors.Is(err, approve.ErrNotKept) {
		return "Approved, this once. The grant for the future could not be kept."
	}
	if statusOf(err) == http.StatusServiceUnavailable {
		return "The store of questions cannot be used now. Nobody knows whether the answer was taken: look again."
	}
	return "Nothing was answered: " + visible.Text(strings.TrimPrefix(err.Error(), "approve: ")) + "."
}

func statusOf(err error) int {
	for known, status := range map[error]int{
		approve.ErrUnknown: http.StatusNotFound, approve.ErrAnswered: http.StatusConflict, approve.ErrUsed: http.StatusConflict,
		approve.ErrStale: http.StatusConflict, approve.ErrIncomplete: http.StatusConflict, approve.ErrExpired: http.StatusGone,
		approve.ErrOwn: http.StatusForbidden, approve.ErrTwice: http.StatusForbidden, approve.ErrNotAllowed: http.StatusForbidden, approve.ErrDiffers: http.StatusConflict, approve.ErrNoEdit: http.StatusBadRequest, approve.ErrNoGrant: http.StatusUnprocessableEntity,
	} {
		if errors.Is(err, known) {
			return status
		}
	}
	return http.StatusServiceUnavailable
}

func (p *Pages) broken(w http.ResponseWriter) {
	p.render(w, http.StatusServiceUnavailable, message{Title: "not available", Text: "The store of questions cannot be read now. Nothing was answered."})
}

// editable formats JSON for an editor, with every invisible character as an escape: otherwise the
// person would send it back unseen.
func editable(args string) string {
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(args), "", "  ") != nil {
		return ""
	}
	var b strings.Builder
	for _, r := range indented.String() {
		switch {
		case r == '\n' || !visible.Hidden(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return b.String()
}
