package occur

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// unseen reports whether browsers do not show an element, or may not.
func (p *pageReader) unseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Meta, atom.Link, atom.Datalist, atom.Iframe, atom.Object, atom.Noframes, atom.Noembed:
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden", "inert":
			return true
		case "type":
			if n.DataAtom == atom.Input && strings.EqualFold(strings.TrimSpace(a.Val), "hidden") {
				return true
			}
		case "style":
			if hides(a.Val) {
				return true
			}
		case "class", "id":
			for name := range strings.FieldsSeq(a.Val) {
				if p.style != "" && strings.Contains(p.style, name) {
					return true
				}
			}
		}
	}
	return false
}

// hides reports whether declarations of a style sheet can hide an element from people.
func hides(style string) bool {
	s := strings.Map(func(r rune) rune {
		if r == ' ' || '\t' <= r && r <= '\r' {
			return -1
		}
		return r
	}, strings.ToLower(style))
	if strings.ContainsAny(s, `\`) || strings.Contains(s, "/*") {
		return true
	}
	for _, d := range [...]string{"display:none", "visibility:hidden", "visibility:collapse", "content-visibility:hidden", "font-size:0", "font-size:1px",
		"text-indent:-", "left:-", "top:-", "right:-", "bottom:-", "margin-left:-", "clip:", "clip-path:", "scale(0", "color:transparent", "color:white", "color:#fff", "color:rgba("} {
		if strings.Contains(s, d) {
			return true
		}
	}
	for _, d := range [...]string{"opacity:", "height:", "width:"} {
		for rest := s; ; {
			_, after, ok := strings.Cut(rest, d)
			if !ok {
				break
			}
			if value := strings.TrimLeft(after, "0."); len(value) < len(after) && (value == "" || value[0] < '1' || value[0] > '9') {
				return true
			}
			rest = after
		}
	}
	return false
}

// inline reports whether an element is a part of a line.
func inline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Q, atom.S,
		atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr, atom.Html, atom.Body, atom.Head:
		return true
	}
	return false
}
