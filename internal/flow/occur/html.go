package occur

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// looksHTML reports whether a text has a tag of HTML, or a comment.
func looksHTML(text []byte) bool {
	for {
		at := bytes.IndexByte(text, '<')
		if at < 0 {
			return false
		}
		text = text[at+1:]
		if bytes.HasPrefix(text, []byte("!--")) {
			return true
		}
		name := bytes.TrimPrefix(bytes.TrimPrefix(text, []byte("/")), []byte("!"))
		n := 0
		for n < len(name) && n < 16 && classes[name[n]]&alnum != 0 {
			n++
		}
		if n == 0 || n == len(name) || name[n] != '>' && name[n] != '/' && classes[name[n]] != white {
			continue
		}
		word := lowered(nil, name[:n])
		if atom.Lookup(word) != 0 || string(word) == "doctype" {
			return true
		}
	}
}

// page returns the parts of a text in HTML. One that cannot be parsed is hidden as a whole.
func page(text []byte) []Part {
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return []Part{{Text: text, Hidden: true}}
	}
	p := pageReader{}
	p.styles(root)
	p.read(root, false)
	var parts []Part
	for i, b := range [...]*bytes.Buffer{&p.text, &p.links, &p.hidden} {
		if b.Len() > 0 {
			parts = append(parts, Part{Text: b.Bytes(), Hidden: i == 2})
		}
	}
	return parts
}

type pageReader struct {
	text, links, hidden bytes.Buffer
	style               string // the style sheets of the page, if one of them hides elements
}

// styles collects the style sheets that could hide an element.
func (p *pageReader) styles(n *html.Node) {
	for n := range n.Descendants() {
		if n.Type == html.ElementNode && n.DataAtom == atom.Style && n.FirstChild != nil && hides(n.FirstChild.Data) {
			p.style += n.FirstChild.Data
		}
	}
}

// read adds the text of a node. html.Parse bounds the depth of a page.
func (p *pageReader) read(n *html.Node, hidden bool) {
	switch n.Type {
	case html.TextNode:
		if hidden {
			line(&p.hidden, n.Data)
		} else {
			p.text.WriteString(n.Data)
		}
	case html.CommentNode:
		line(&p.hidden, n.Data)
	case html.ElementNode:
		hidden = hidden || p.unseen(n)
		p.attributes(n, hidden)
		if atom.Lookup([]byte(n.Data)) == 0 {
			line(&p.hidden, n.Data)
		}
	}
	apart := n.Type == html.ElementNode && !inline(n.DataAtom)
	if apart && !hidden {
		p.text.WriteByte('\n')
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.read(c, hidden)
	}
	if apart && !hidden {
		p.text.WriteByte('\n')
	}
}

func line(b *bytes.Buffer, text string) {
	if text = strings.TrimSpace(text); text != "" {
		b.WriteString(text)
		b.WriteByte('\n')
	}
}

// attributes adds the addresses of an element to the links of the page, and other texts to what is
// hidden.
func (p *pageReader) attributes(n *html.Node, hidden bool) {
	for _, a := range n.Attr {
		switch a.Key {
		case "class", "style", "type", "rel", "lang", "dir", "width", "height", "colspan", "rowspan":
			continue
		case "href", "src", "action":
			if !hidden {
				line(&p.links, a.Val)
				continue
			}
		case "value":
			if !hidden && n.DataAtom == atom.Input {
				line(&p.links, a.Val)
				continue
			}
		}
		line(&p.hidden, a.Val)
	}
}

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
