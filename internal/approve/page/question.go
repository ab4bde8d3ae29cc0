package page

import (
	"fmt"
	"net/url"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/approve/frame"
)

// question is the page of one question.
type question struct {
	frame.Frame
	Name, Token string
	Refresh     int // seconds, 0 for never
	// Open reports that the question can be answered, Complete that a yes is possible.
	Open, Complete bool
	Seen, Code     string
	Editor         string // the arguments, for the editor
	State          string // description of its state
	Refusal        string // why the last answer was refused
	Cut            bool   // some value is cut
	// Offers are the grants that a person can choose, the most useful first.
	Offers []frame.Offer
	// Number is the place of the question among those that wait, oldest first; Waiting is how many
	// there are, and Next the id of the one after it, "" for none.
	Number, Waiting int
	Next            string
}

func (v question) write(m *markup) {
	top(m, func() {
		if v.Refresh > 0 {
			refresh(m, v.Refresh)
		}
	}, v.Tool)
	loggedIn(m, v.Name, v.Token)
	v.navigation(m)
	m.raw("<h1><span class=\"asks\">")
	m.text(v.Who)
	m.raw(" wants to run</span> ")
	m.element("code", v.Tool)
	if v.At != "" {
		m.raw(` <span class="asks">at</span> `)
		m.element("code", v.At)
	}
	warn(m, v.Alike)
	m.raw("</h1>\n")
	if v.Refusal != "" {
		m.raw(`<p class="trouble" role="alert">`)
		m.text(v.Refusal)
		m.raw("</p>\n")
	}
	if v.State != "" {
		m.raw(`<p class="fate" role="status">`)
		m.text(v.State)
		m.raw("</p>\n")
	}
	v.arguments(m)
	v.reasons(m)
	if v.Open {
		v.form(m)
	}
	bottom(m)
}

// arguments shows the arguments.
func (v question) arguments(m *markup) {
	if len(v.Values) == 0 {
		m.raw("<p>Its arguments are still arriving, ")
		m.text(v.Received)
		m.raw(" so far: only a no is possible yet.</p>\n")
		return
	}
	m.raw(`<table class="values">` + "\n")
	for _, value := range v.Values {
		m.raw("<tr>")
		if value.Label != "" {
			m.raw(`<th scope="row">`)
			m.element("pre", value.Label)
			m.raw("</th>")
		}
		m.raw("<td>")
		m.element("pre", value.Text)
		warn(m, value.Alike)
		if value.Rest != "" {
			m.raw(`<span class="note">`)
			m.text(value.Rest)
			m.raw("</span>")
		}
		m.raw("</td></tr>\n")
	}
	m.raw("</table>\n")
	switch {
	case v.Hides && v.Open:
		m.raw(`<p class="trouble">Not all of what it touches is on this page. <a href="?all=1">Show everything</a>: before that only a no is possible.</p>` + "\n")
	case v.Cut:
		m.raw(`<p><a href="?all=1">Show everything</a></p>` + "\n")
	}
}

// warn names a character that looks like another one.
func warn(m *markup, sentence string) {
	if sentence == "" {
		return
	}
	m.raw(` <strong class="warn">`)
	m.text(sentence)
	m.raw("</strong>")
}

// reasons shows why the question is asked, and the time left.
func (v question) reasons(m *markup) {
	m.raw("<dl>\n<dt>because</dt><dd>")
	m.element("pre", v.Because)
	if v.Rule != "" {
		m.raw(`<pre class="note">`)
		m.text(v.Rule)
		m.raw("</pre>")
	}
	for _, f := range v.Floors {
		m.element("pre", f)
	}
	m.raw("</dd>\n")
	if v.Edit {
		m.raw("<dt>note</dt><dd>The policy wants you to look at the arguments in the editor below.</dd>\n")
	}
	m.raw("<dt>question</dt><dd>")
	m.element("code", v.ID)
	m.text(", asked " + v.Asked + " ago")
	if v.Open {
		m.text(", can be answered for " + v.Left)
		if v.Late {
			m.raw("; the call has stopped waiting: a yes counts when it is repeated")
		}
	}
	m.raw("</dd>\n</dl>\n")
}

// form writes the answer forms: one for each answer, so that Enter in a field of one never submits
// another.
func (v question) form(m *markup) {
	v.open(m)
	m.raw(`<p class="answer"><button name="do" value="deny" class="no">Deny</button>
<label>and tell the model why, if you like<br><input name="reason" maxlength="500" autocomplete="off"></label></p>
</form>
`)
	if v.Code != "" {
		v.open(m)
		m.raw("<fieldset>\n<legend>To approve, type ")
		m.element("strong", v.Code)
		m.raw(`</legend>
<p class="answer"><label>Code<br><input name="code" inputmode="numeric" autocomplete="off" size="6"></label>
<button name="do" value="approve" class="yes">Approve once</button>
`)
		m.raw("</p>\n")
		v.offers(m)
		v.editor(m)
		m.raw("</fieldset>\n</form>\n")
	}
}

// navigation links to the other questions.
func (v question) navigation(m *markup) {
	m.raw("<p><a href=\"/approvals\">All questions</a>")
	if v.Number > 0 && v.Waiting > 1 {
		m.text(fmt.Sprintf(", this is %d of %d", v.Number, v.Waiting))
	}
	if v.Next != "" {
		m.raw(" <a")
		m.link("/approvals/", url.PathEscape(v.Next))
		m.raw(">Next question</a>")
	}
	m.raw("</p>\n")
}

// offers shows a button for each grant, and what it lets run.
func (v question) offers(m *markup) {
	if v.Edit || len(v.Offers) == 0 {
		return
	}
	m.raw("<p>Approve, and do not ask again in this session, for ")
	m.text(frame.Span(approve.DefaultGrant))
	m.raw(":</p>\n")
	for _, o := range v.Offers {
		m.raw(`<div class="offer"><button name="do"`)
		m.attr("value", always+o.Name)
		m.raw(">")
		m.text(o.Title)
		m.raw(`</button><pre class="note">`)
		m.text(o.Sentence)
		if o.Example != "" {
			m.text("\nfor example " + o.Example)
		}
		m.raw("</pre></div>\n")
	}
}

// always begins the values of the buttons that create a grant; the name of its extension follows.
const always = "always-"

// open begins a form.
func (v question) open(m *markup) {
	m.raw(`<form method="post">` + "\n")
	hidden(m, "token", v.Token)
	hidden(m, "seen", v.Seen)
}

// editor shows an editor for the arguments.
func (v question) editor(m *markup) {
	if v.Editor == "" {
		return
	}
	m.raw("<details")
	if v.Edit {
		m.raw(" open")
	}
	m.raw(`><summary>Change the arguments</summary>
<p><textarea name="args" rows="12" cols="80" spellcheck="false" autocomplete="off">`)
	m.text(v.Editor)
	m.raw(`</textarea></p>
<p><button name="do" value="edit">Run it with these arguments, if the policy agrees</button></p>
</details>
`)
}
