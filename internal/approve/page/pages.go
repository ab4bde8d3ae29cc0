package page

import (
	"net/url"
	"strconv"
)

// view is one page.
type view interface{ write(m *markup) }

// top writes the start of a page; head writes additional elements of its head.
func top(m *markup, head func(), title string) {
	m.raw(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/approvals/-/style.css">
`)
	if head != nil {
		head()
	}
	m.element("title", "stopgate: "+title)
	m.raw("\n</head>\n<body>\n")
}

func bottom(m *markup) { m.raw("</body>\n</html>\n") }

// refresh makes the browser reload the page after some seconds.
func refresh(m *markup, seconds int) {
	m.raw(`<meta http-equiv="refresh"`)
	m.attr("content", strconv.Itoa(seconds))
	m.raw(">\n")
}

// loggedIn shows the name of the person, with a logout button.
func loggedIn(m *markup, name, token string) {
	m.raw(`<form method="post" action="/approvals/-/logout" class="who">` + "\n")
	hidden(m, "token", token)
	m.text(name)
	m.raw(" <button>log out</button>\n</form>\n")
}

// hidden writes a hidden field of a form.
func hidden(m *markup, name constant, value string) {
	m.raw(`<input type="hidden" name="` + name + `"`)
	m.attr("value", value)
	m.raw(">\n")
}

// message is a page with a text.
type message struct {
	Title, Text string
	// Again is a path of these pages to load next.
	Again string
}

func (v message) write(m *markup) {
	top(m, func() {
		if v.Again != "" {
			m.raw(`<meta http-equiv="refresh"`)
			m.attr("content", "0; url="+v.Again)
			m.raw(">\n")
		}
	}, v.Title)
	m.raw("<h1>stopgate</h1>\n<p>")
	m.text(v.Text)
	if v.Again != "" {
		m.raw(" <a")
		m.link("", v.Again)
		m.raw(">Go on</a>")
	}
	m.raw("</p>\n")
	bottom(m)
}

// login is the page with the login form.
type login struct {
	Next  string
	Wrong bool
}

func (v login) write(m *markup) {
	top(m, nil, "log in")
	m.raw("<h1>stopgate</h1>\n")
	if v.Wrong {
		m.raw(`<p class="trouble" role="alert">That token may not answer questions.</p>` + "\n")
	}
	m.raw(`<form method="post" action="/approvals/-/login">` + "\n")
	hidden(m, "next", v.Next)
	m.raw(`<p><label>Token with the scope approve<br>
<input type="password" name="secret" autocomplete="current-password" required autofocus></label></p>
<p><button>Log in</button></p>
</form>
`)
	bottom(m)
}

// listing is the page with the waiting questions.
type listing struct {
	Name, Token string
	Refresh     int // seconds
	Rows        []row
	Refusal     string // why the last answer was refused
	// Seen names the questions that can be answered together, with their bindings; Code is the code
	// for them, "" if there are none.
	Seen, Code string
}

// row is one question. Seen is the hash of its binding if its page was shown in full.
type row struct {
	Number                                 int
	ID, Tool, Args, Who, Asked, Left, Seen string
}

func (v listing) write(m *markup) {
	top(m, func() { refresh(m, v.Refresh) }, strconv.Itoa(len(v.Rows))+" waiting")
	loggedIn(m, v.Name, v.Token)
	m.raw("<h1>Questions</h1>\n")
	if v.Refusal != "" {
		m.raw(`<p class="trouble" role="alert">`)
		m.text(v.Refusal)
		m.raw("</p>\n")
	}
	if len(v.Rows) == 0 {
		m.raw("<p>Nothing waits.</p>\n")
	} else {
		m.raw(`<form method="post" action="/approvals/-/together">` + "\n")
		hidden(m, "token", v.Token)
		hidden(m, "seen", v.Seen)
		m.raw("<table>\n<thead><tr><th></th><th>wants to run</th><th>with</th><th>who</th><th>asked</th><th></th></tr></thead>\n<tbody>\n")
		for _, r := range v.Rows {
			r.write(m)
		}
		m.raw("</tbody>\n</table>\n")
		v.together(m)
		m.raw("</form>\n")
	}
	m.raw(`<p class="note">While this page is open, calls wait for an answer instead of being denied. It looks again every `)
	m.text(strconv.Itoa(v.Refresh))
	m.raw(" seconds.</p>\n")
	bottom(m)
}

func (r row) write(m *markup) {
	m.raw("<tr><td>")
	if r.Seen != "" {
		m.raw(`<label><input type="checkbox" name="id"`)
		m.attr("value", r.ID)
		m.raw("> ")
	}
	m.text(strconv.Itoa(r.Number))
	if r.Seen != "" {
		m.raw("</label>")
	}
	m.raw("</td><td><a")
	m.link("/approvals/", url.PathEscape(r.ID))
	m.raw(">")
	m.text(r.Tool)
	m.raw("</a></td><td>")
	m.element("pre", r.Args)
	m.raw("</td><td>")
	m.element("pre", r.Who)
	m.raw("</td>")
	m.element("td", r.Asked+" ago")
	m.element("td", r.Left+" left")
	m.raw("</tr>\n")
}
