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
	p.separate()
	if p.markup(text) != p.length {
		line(&p.hidden, string(text)) // the parser has dropped a text
	}
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
	shown               map[string]bool // the links
	seams               []int           // offsets in text of the tags inside of a line
	length              int             // of all texts of the page, without white space
	style               string          // the style sheets of the page, if one of them hides elements
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
		p.length += solid(n.Data)
		if hidden {
			line(&p.hidden, n.Data)
		} else {
			p.text.WriteString(n.Data)
		}
	case html.ElementNode:
		hidden = hidden || p.unseen(n)
		p.attributes(n, hidden)
		p.seams = append(p.seams, p.text.Len())
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
	if n.Type == html.ElementNode {
		p.seams = append(p.seams, p.text.Len())
	}
}

func line(b *bytes.Buffer, text string) {
	if text = strings.TrimSpace(text); text != "" {
		b.WriteString(text)
		b.WriteByte('\n')
	}
}

// attributes adds the addresses of an element that browsers show to the links of the page.
func (p *pageReader) attributes(n *html.Node, hidden bool) {
	for _, a := range n.Attr {
		if !hidden && (a.Key == "href" || a.Key == "src" || a.Key == "action" || a.Key == "value" && n.DataAtom == atom.Input) {
			line(&p.links, a.Val)
			if p.shown == nil {
				p.shown = map[string]bool{}
			}
			p.shown[a.Val] = true
		}
	}
}

// separate adds the words that end at a tag inside of a line. A model reads "a<b>bob@x.com" with the
// address, and a browser shows another one.
func (p *pageReader) separate() {
	text := p.text.Bytes()
	start := 0
	for i, at := range p.seams {
		end := len(text)
		if i+1 < len(p.seams) {
			end = p.seams[i+1]
		}
		if at > 0 && at < len(text) && classes[text[at-1]] != white && classes[text[at]] != white {
			left, right := text[start:at], text[at:max(at, end)]
			line(&p.links, string(left[bytes.LastIndexAny(left, " \t\r\n")+1:]))
			if n := bytes.IndexAny(right, " \t\r\n"); n >= 0 {
				right = right[:n]
			}
			line(&p.links, string(right))
		}
		start = at
	}
}

// markup adds the comments, and of the tags everything that browsers do not show, to what is hidden:
// a model reads them, and the parser drops some. It returns the length of the texts between them.
func (p *pageReader) markup(text []byte) (length int) {
	for z := html.NewTokenizer(bytes.NewReader(text)); ; {
		switch kind := z.Next(); kind {
		case html.TextToken:
			length += solid(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			p.tag(z)
		default:
			line(&p.hidden, strings.Trim(string(z.Raw()), "<!->"))
			if kind == html.ErrorToken {
				return length
			}
		}
	}
}

// tag adds what browsers do not show of a tag, in one line.
func (p *pageReader) tag(z *html.Tokenizer) {
	raw := z.Raw()
	if bare := bytes.TrimPrefix(raw[1:len(raw)-1], []byte("/")); raw[len(raw)-1] == '>' && atom.Lookup(bare) != 0 {
		return
	}
	if bytes.IndexByte(raw, '&') >= 0 {
		raw = []byte(html.UnescapeString(string(raw)))
	}
	start := p.hidden.Len()
	add := func(text []byte) {
		if text = bytes.TrimSpace(text); len(text) > 0 {
			p.hidden.Write(text)
			p.hidden.WriteByte(' ')
		}
	}
	name, more := z.TagName()
	rest := letters(raw) - letters(name)
	if atom.Lookup(name) == 0 {
		add(name)
	}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if atom.Lookup(key) == 0 {
			add(key)
		}
		if !p.shown[string(value)] {
			add(value)
		}
		rest -= letters(key) + letters(value)
	}
	if rest != 0 { // such as a repeated attribute, or one of an end tag
		add(bytes.Trim(raw, "</>"))
	}
	if p.hidden.Len() > start {
		p.hidden.WriteByte('\n')
	}
}

// letters returns the number of bytes of letters and digits.
func letters(text []byte) (n int) {
	for _, c := range text {
		n += int(isLetter[c])
	}
	return n
}

// solid returns the length of a text without white space.
func solid[T string | []byte](text T) (n int) {
	for i := range len(text) {
		n += int(isSolid[text[i]])
	}
	return n
}

// isLetter and isSolid are 1 for the bytes that letters and solid count.
var isLetter, isSolid = func() (letter, solid [256]uint8) {
	for b, class := range classes {
		if class&(alnum|high) != 0 {
			letter[b] = 1
		}
		if class != white && b != 0 {
			solid[b] = 1
		}
	}
	return letter, solid
}()
