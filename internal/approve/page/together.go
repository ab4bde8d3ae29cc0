package page

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
)

// together is the name in codes of answers to several questions; no question has it as its id.
const together = "-"

// maxShown bounds the questions that a session remembers as shown.
const maxShown = 1000

// read records that a question was shown in full.
func (v *session) read(id, hash string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.shown) >= maxShown {
		clear(v.shown)
	}
	v.shown[id] = hash
}

// hasRead reports whether a question was shown in full with this binding.
func (v *session) hasRead(id, hash string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return hash != "" && v.shown[id] == hash
}

// among returns the number of a question in a list, newest first, and the id of the one after it.
func among(list []approve.Entry, id string) (number, of int, next string) {
	at := slices.IndexFunc(list, func(e approve.Entry) bool { return e.ID == id })
	switch {
	case at > 0:
		return len(list) - at, len(list), list[at-1].ID
	case at < 0 && len(list) > 0: // answered
		return 0, len(list), list[len(list)-1].ID
	case at < 0:
		return 0, 0, ""
	}
	return len(list), len(list), ""
}

// together writes the form that answers the checked questions.
func (v listing) together(m *markup) {
	if v.Code == "" {
		m.raw(`<p class="note">Those that you have opened can be answered together here.</p>` + "\n")
		return
	}
	m.raw(`<p class="answer"><button name="do" value="deny" class="no">Deny the checked ones</button></p>
<fieldset>
<legend>To approve the checked ones, type `)
	m.element("strong", v.Code)
	m.raw(`</legend>
<p class="answer"><label>Code<br><input name="code" inputmode="numeric" autocomplete="off" size="6"></label>
<button name="do" value="approve" class="yes">Approve each once</button></p>
</fieldset>
`)
}

// answerTogether handles the form of the list: one answer to each checked question. Only those that this
// session has shown in full are approved, each for the call that was shown.
func (p *Pages) answerTogether(w http.ResponseWriter, r *http.Request, who *session) {
	seen, do, ids := r.PostFormValue("seen"), r.PostFormValue("do"), r.PostForm["id"]
	_, groups, _ := p.login(who.tokenHash) // as they are now
	reply := approve.Reply{By: who.name, Principal: stopgate.Principal(who.name), Groups: groups, Via: approve.ViaPage}
	switch {
	case do != "deny" && do != "approve":
		p.listing(w, r, who, http.StatusBadRequest, "That was no answer.")
		return
	case len(ids) == 0:
		p.listing(w, r, who, http.StatusBadRequest, "No question was checked, and nothing was answered.")
		return
	case do == "approve" && !who.validCode(r.PostFormValue("code"), together, seen):
		p.listing(w, r, who, http.StatusForbidden, "The code was not the one that is shown, and nothing was answered. There is a new one.")
		return
	case do == "approve":
		reply.Kind = approve.Yes
	}
	shown := strings.Fields(seen) // ids and hashes in turn, as the code confirms
	status, refusal := http.StatusOK, ""
	for _, id := range ids {
		reply.Seen = ""
		for i := 0; i+1 < len(shown); i += 2 {
			if shown[i] == id {
				reply.Seen = shown[i+1]
			}
		}
		err := error(approve.ErrStale)
		if reply.Kind == approve.No || who.hasRead(id, reply.Seen) {
			_, err = p.queue.Answer(r.Context(), id, reply)
		}
		if err != nil {
			status, refusal = statusOf(err), "Not every answer was taken. "+refusalText(err)
		}
	}
	if refusal != "" {
		p.listing(w, r, who, status, refusal)
		return
	}
	http.Redirect(w, r, "/approvals", http.StatusSeeOther)
}
