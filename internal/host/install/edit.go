package install

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/host/jsonc"
	"github.com/stopgate/stopgate/jsonstream"
)

// Install returns the file with the hook; before is nil if the file does not exist. A hook of an
// older installation is replaced; everything else stays byte for byte. Install is idempotent.
func (p *Plan) Install(before []byte) ([]byte, error) {
	if p.Content != nil {
		if len(before) > 0 && !bytes.Contains(before, []byte(mark)) {
			return nil, fmt.Errorf("%s exists and is not stopgate's: move it away first", p.File)
		}
		return p.Content, nil
	}
	if p.Installed(before) {
		return before, nil
	}
	text, err := p.remove(before)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n}\n")
	}
	if p.version != "" {
		root, err := p.parse(text)
		if err != nil {
			return nil, err
		}
		if _, ok := root.Get("version"); !ok {
			if text, err = p.insert(text, root, `"version": `+p.version, 1); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range p.entries {
		if text, err = p.add(text, e.path, e.text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// Uninstall returns the file without the hooks of stopgate, nil if the rest is empty. Lists of
// hooks that become empty are removed too.
func (p *Plan) Uninstall(before []byte) ([]byte, error) {
	if p.Content != nil {
		if bytes.Contains(before, []byte(mark)) {
			return nil, nil
		}
		return before, nil
	}
	text, err := p.remove(before)
	if err != nil || bytes.Equal(text, before) {
		return text, err
	}
	root, err := p.parse(text)
	if err != nil {
		return nil, err
	}
	_, versioned := root.Get("version")
	empty := root.Len() == 0 || root.Len() == 1 && versioned && p.version != ""
	if empty && bytes.Equal(text, p.plain(text)) {
		return nil, nil
	}
	return text, nil
}

// Installed reports whether the file has exactly this installation.
func (p *Plan) Installed(text []byte) bool {
	if p.Content != nil {
		return bytes.Equal(text, p.Content)
	}
	root, err := p.parse(text)
	if err != nil {
		return false
	}
	for _, e := range p.entries {
		list, ok := jsonstream.Pointer(e.path).Find(root)
		if !ok {
			return false
		}
		n := 0 // one of stopgate's, and none together with other hooks
		want, _ := jsonstream.Parse([]byte(e.text), jsonstream.Options{})
		for v := range list.Elements() {
			if p.onlyStopgate(v) {
				n++
				if jsonstream.HashCanonical(v) != jsonstream.HashCanonical(want) {
					return false
				}
			} else if len(p.commands(v)) > 0 {
				return false
			}
		}
		if n != 1 {
			return false
		}
	}
	return true
}

// Check returns an error if the settings cannot be read.
func (p *Plan) Check(text []byte) error {
	if p.Content != nil || len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	_, err := p.parse(text)
	return err
}

// Lines returns the command lines of stopgate's hooks in the file, for an event of a tool call, as
// the host would run them.
func (p *Plan) Lines(text []byte) []string {
	if p.Content != nil {
		return p.ownLines(text)
	}
	root, err := p.parse(text)
	if err != nil {
		return nil
	}
	var lines []string
	if list, ok := jsonstream.Pointer(p.entries[0].path).Find(root); ok {
		for v := range list.Elements() {
			lines = append(lines, p.commands(v)...)
		}
	}
	return lines
}

// ownLines returns the command lines in a file that belongs to stopgate: a line of a script, or the
// words with which an extension starts the program.
func (p *Plan) ownLines(text []byte) (lines []string) {
	if !bytes.Contains(text, []byte(mark)) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if _, rest, ok := strings.Cut(line, "spawn("); ok {
			line = spawned(rest)
		}
		if starts(line, p.Host) {
			lines = append(lines, line)
		}
	}
	return lines
}

// spawned returns the command line of the arguments of spawn in an extension, "" if they are no
// words.
func spawned(arguments string) string {
	arguments, _, _ = strings.Cut(arguments, ", {")
	root, err := jsonstream.Parse([]byte("["+arguments+"]"), jsonstream.Options{})
	if err != nil {
		return ""
	}
	var words []string
	for v := range root.Elements() {
		switch v.Kind() {
		case jsonstream.String:
			words = append(words, v.Text())
		case jsonstream.Array:
			for word := range v.Elements() {
				words = append(words, word.Text())
			}
		}
	}
	return shell(words)
}

// commands returns the command lines of an element that start stopgate for this host.
func (p *Plan) commands(v jsonstream.Value) []string {
	var lines []string
	look := func(v jsonstream.Value) {
		if c, ok := v.Get("command"); ok && starts(c.Text(), p.Host) {
			lines = append(lines, c.Text())
		}
	}
	look(v)
	if hooks, ok := v.Get("hooks"); ok {
		for h := range hooks.Elements() {
			look(h)
		}
	}
	return lines
}

// starts reports whether a command line starts stopgate, or stopgate-hook, for a host.
func starts(line, host string) bool {
	return strings.Contains(line, "stopgate") && strings.Contains(line, " hook "+host) ||
		strings.Contains(line, "stopgate-hook "+host) || strings.Contains(line, "stopgate-hook' "+host)
}

// onlyStopgate reports whether an element has only hooks of stopgate.
func (p *Plan) onlyStopgate(v jsonstream.Value) bool {
	n := len(p.commands(v))
	if hooks, ok := v.Get("hooks"); ok {
		return n > 0 && n == hooks.Len()
	}
	return n > 0
}

// removeShared removes the hooks of stopgate from elements that also have others.
func (p *Plan) removeShared(text []byte, hooks jsonstream.Value) ([]byte, error) {
	var edits []jsonstream.Edit
	for _, list := range hooks.Members() {
		for v := range list.Elements() {
			if inner, ok := v.Get("hooks"); ok && !p.onlyStopgate(v) {
				edits = inner.AppendRemovals(edits, func(_, h jsonstream.Value) bool {
					c, ok := h.Get("command")
					return ok && starts(c.Text(), p.Host)
				})
			}
		}
	}
	return jsonstream.Splice(nil, text, edits)
}

// remove removes every hook of stopgate, and lists and members that become empty.
func (p *Plan) remove(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	root, err := p.parse(text)
	if err != nil {
		return nil, err
	}
	hooks, ok := root.Get("hooks")
	if !ok {
		return text, nil
	}
	if text, err = p.removeShared(text, hooks); err != nil {
		return nil, err
	}
	if root, err = p.parse(text); err != nil {
		return nil, err
	}
	hooks, _ = root.Get("hooks")
	emptied := map[string]bool{}
	left := 0
	for key, list := range hooks.Members() {
		n := 0
		for v := range list.Elements() {
			if p.onlyStopgate(v) {
				n++
			}
		}
		emptied[key.Text()] = n > 0 && n == list.Len()
		if !emptied[key.Text()] {
			left++
		}
	}
	if hooks.Len() == 0 {
		return text, nil
	}
	if left == 0 && root.Len() == 1 {
		// The text before the first member was added with it.
		for key, list := range root.Members() {
			start, _ := key.Span()
			_, end := list.Span()
			start = len(bytes.TrimRight(text[:start], " \t\r\n"))
			if rest := bytes.TrimLeft(text[end:], " \t\r\n"); bytes.HasPrefix(rest, []byte(",")) {
				end = len(text) - len(rest) + 1 // the last comma, if there is one
			}
			return jsonstream.Splice(nil, text, []jsonstream.Edit{{Start: start, End: end}})
		}
	}
	if left == 0 {
		return jsonstream.Splice(nil, text, root.AppendRemovals(nil, func(key, _ jsonstream.Value) bool { return key.IsText("hooks") }))
	}
	edits := hooks.AppendRemovals(nil, func(key, _ jsonstream.Value) bool { return emptied[key.Text()] })
	if text, err = jsonstream.Splice(nil, text, edits); err != nil {
		return nil, err
	}
	if root, err = p.parse(text); err != nil {
		return nil, err
	}
	hooks, _ = root.Get("hooks")
	edits = nil
	for _, list := range hooks.Members() {
		edits = list.AppendRemovals(edits, func(_, v jsonstream.Value) bool { return p.onlyStopgate(v) })
	}
	return jsonstream.Splice(nil, text, edits)
}

func (p *Plan) parse(text []byte) (jsonstream.Value, error) {
	root, err := jsonstream.Parse(p.plain(text), jsonstream.Options{ObjectRoot: true, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		hint := ""
		if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
			hint = "; they begin with a byte order mark, which " + p.Host + " may not read either, take it out"
		} else if plain := jsonc.Plain(text); !p.comments && !bytes.Equal(plain, text) {
			hint = "; " + p.Host + " may not read comments and last commas there either, take them out"
		}
		return root, fmt.Errorf("the settings are not plain JSON: %w%s", err, hint)
	}
	return root, nil
}

// plain removes the comments that the host accepts, without changing offsets.
func (p *Plan) plain(text []byte) []byte {
	if p.comments {
		return jsonc.Plain(text)
	}
	return text
}

// add appends an element to the list at a path, and creates missing containers.
func (p *Plan) add(text []byte, path []string, element string) ([]byte, error) {
	root, err := p.parse(text)
	if err != nil {
		return nil, err
	}
	at := root
	for depth, name := range path {
		if at.Kind() != jsonstream.Object {
			return nil, errors.New("the settings have something else than an object at " + strings.Join(path[:depth], "."))
		}
		next, ok := at.Get(name)
		if !ok {
			rest, value := path[depth+1:], "[\n"+indent(len(path)+1)+element+"\n"+indent(len(path))+"]"
			for i := len(rest) - 1; i >= 0; i-- {
				value = "{\n" + indent(depth+2+i) + str(rest[i]) + ": " + value + "\n" + indent(depth+1+i) + "}"
			}
			return p.insert(text, at, str(name)+": "+value, depth+1)
		}
		at = next
	}
	if at.Kind() != jsonstream.Array {
		return nil, errors.New("the settings have something else than a list at " + strings.Join(path, "."))
	}
	return p.insert(text, at, element, len(path)+1)
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// insert adds a member or an element after the last one.
func (p *Plan) insert(text []byte, into jsonstream.Value, item string, depth int) ([]byte, error) {
	if k := into.Kind(); k != jsonstream.Object && k != jsonstream.Array {
		return nil, errors.New("the settings have another value in place of the hooks")
	}
	start, end := into.Span()
	inside := p.plain(text)[start+1 : end-1]
	last := start + 1 + len(bytes.TrimRight(inside, " \t\r\n"))
	lead := ""
	if bytes.Contains(text[last:end-1], []byte("\n")) { // one line each
		lead = "\n" + indent(depth)
	} else if into.Len() > 0 {
		lead = " "
	}
	if into.Len() > 0 {
		lead = "," + lead
	}
	item = lead + item
	if n := bytes.Count(text, []byte("\n")); n > 0 && n == bytes.Count(text, []byte("\r\n")) {
		item = strings.ReplaceAll(item, "\n", "\r\n")
	}
	return jsonstream.Splice(nil, text, []jsonstream.Edit{{Start: last, End: last, Text: []byte(item)}})
}
