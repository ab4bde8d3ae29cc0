package occur

import (
	"bytes"

	"github.com/stopgate/stopgate/flow"
)

// The bounds of loose needles.
const (
	maxNeedles  = 64
	longestRead = 16 << 10 // of a value that is read in every way
)

// loose adds the needles of everything that a value could mean.
func (r *reader) loose(value []byte) {
	if len(value) > longestRead {
		value, r.Open = value[:longestRead], true
	}
	var run [][]byte
	end := func() {
		r.words(run)
		run = nil
	}
	text := normalised(value)
	main := make([][]byte, 0, 8) // the words of the value as it is
	Scan(text, func(t Token) {
		switch {
		case t.Kind != flow.Text:
			r.atom(&t, text)
		case t.Mark:
		case !t.Loose:
			main = append(main, r.keep(t.Value))
			if t.Alone {
				t.Kind = flow.ID
				r.atom(&t, text)
			}
		case len(t.Value) == 0:
			end()
		default:
			run = append(run, r.keep(t.Value))
		}
	})
	end()
	r.words(main)
	if len(main) > 1 && len(main) <= maxJoined {
		r.words([][]byte{bytes.Join(main, nil)})
	}
	switch r.q.Kind {
	case flow.URL, flow.Host:
		if len(r.Plain) == 0 { // programs read it differently
			r.hosts(value)
		}
	case flow.Path:
		r.fileName(text)
	}
}

// maxJoined is the number of words that are read as one.
const maxJoined = 16

// words adds a sequence of words, unless it occurs by chance.
func (r *reader) words(words [][]byte) {
	if len(words) == 0 || !r.q.Weak && len(words) == 1 && weak(words[0]) {
		return
	}
	r.suspect(Needle{Kind: flow.Text, Tokens: words})
}

func (r *reader) suspectAtom(k flow.Kind, token []byte) {
	if len(token) == 0 {
		return
	}
	n := Needle{Kind: k, Tokens: r.row(token)}
	if r.suspect(n) {
		n.Tokens[0] = r.keep(token)
	}
}

// suspect adds a loose needle, unless there is an equal one.
func (r *reader) suspect(n Needle) bool {
	for i := range r.Loose {
		if same(&r.Loose[i], &n) {
			return false
		}
	}
	if len(r.Loose) >= maxNeedles {
		r.Open = true
		return false
	}
	r.Loose = append(r.Loose, n)
	return true
}

func same(a, b *Needle) bool {
	if a.Kind != b.Kind || a.Marks != b.Marks || len(a.Tokens) != len(b.Tokens) {
		return false
	}
	for i := range a.Tokens {
		if !bytes.Equal(a.Tokens[i], b.Tokens[i]) {
			return false
		}
	}
	return true
}

// atom adds an atom of the value, or of a reading of it, if it fits the kind that is asked for.
func (r *reader) atom(t *Token, text []byte) {
	k := t.Kind
	switch r.q.Kind {
	case flow.Email:
		if k == flow.Email {
			r.parts(t.Value)
		}
		if k != flow.Email && k != flow.Host {
			return
		}
	case flow.URL, flow.Host:
		if k == flow.URL && r.q.Kind == flow.URL {
			r.variants(t.Value)
		}
		if k != flow.Host && (k != flow.URL || r.q.Kind == flow.Host) {
			return
		}
	case flow.Path:
		if k == flow.Path && r.q.Relation == flow.Below {
			r.folders(t.Value)
		}
		if k != flow.Path {
			return
		}
	case flow.Number, flow.Money:
		if k != flow.Number && k != flow.Money || k == flow.Number && !r.q.Weak && weak(t.Value) {
			return
		}
	case flow.Text, flow.ID:
		if t.Loose || t.Start > 0 || t.End < len(text) {
			return
		}
	default:
		if k != r.q.Kind {
			return
		}
	}
	r.suspectAtom(k, t.Value)
}

// parts adds the local part of an address, and the address in words.
func (r *reader) parts(address []byte) {
	at := bytes.LastIndexByte(address, '@')
	local, host := r.tokens(address[:at], false), r.tokens(address[at+1:], false)
	r.words(local)
	spoken := append(append([][]byte(nil), local...), []byte("at"))
	for i, label := range host {
		if i > 0 {
			spoken = append(spoken, []byte("dot"))
		}
		spoken = append(spoken, label)
	}
	r.words(spoken)
}

// variants adds the spellings of a URL without its scheme, query and fragment.
func (r *reader) variants(url []byte) {
	_, rest, _ := bytes.Cut(url, []byte("//"))
	if at := bytes.IndexAny(rest, "?#"); at >= 0 {
		rest = rest[:at]
	}
	for _, path := range [][]byte{bytes.TrimSuffix(rest, []byte("/")), append(bytes.TrimSuffix(bytes.Clone(rest), []byte("/")), '/')} {
		for _, scheme := range []string{"//", "http://", "https://"} {
			r.suspectAtom(flow.URL, append([]byte(scheme), path...))
		}
	}
}

// hosts adds the hosts that some program could read.
func (r *reader) hosts(value []byte) {
	if len(value) > longestURL {
		value, r.Open = value[:longestURL], true
	}
	for _, name := range looseHosts(string(value)) {
		r.suspectAtom(flow.Host, []byte(name))
	}
}

// folders adds the folders that a path is in.
func (r *reader) folders(path []byte) {
	for range maxFolders {
		at := bytes.LastIndexByte(path, '/')
		if at <= 0 {
			return
		}
		path = path[:at]
		r.suspectAtom(flow.Path, path)
		r.words(r.tokens(path, false))
	}
}

// fileName adds the name of a file without its folder.
func (r *reader) fileName(path []byte) {
	at := bytes.LastIndexAny(bytes.TrimRight(path, `/\`), `/\`)
	if at >= 0 {
		r.words(r.tokens(path[at+1:], false))
	}
}
