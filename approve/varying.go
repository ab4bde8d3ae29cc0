package approve

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/schema"
)

// varying returns pointers to the parameters of the tool that a grant may leave open. There are none if one
// of them is the reason of the question.
func (e Entry) varying() (pointers []string) {
	for _, name := range knowntools.Varying(string(e.Tool), string(e.Server), string(e.KnownServer)) {
		pointer := "/" + name
		if e.Pointer == pointer || strings.HasPrefix(e.Pointer, pointer+"/") {
			return nil
		}
		pointers = append(pointers, pointer)
	}
	return pointers
}

// varied returns the values that leave the varying parameters open.
func (e Entry) varied() (wider []Value) {
	for _, pointer := range e.varying() {
		wider = append(wider, Value{Pointer: pointer, How: Open})
	}
	return wider
}

// variedOffer leaves the values open that change neither the files that a tool reads or changes, nor the
// programs that it runs, nor the server that it asks.
func variedOffer(e Entry) (x Extension, ok bool) {
	wider := e.varied()
	if wider == nil {
		return x, false
	}
	x = Extension{Name: "tool", Title: "this tool: " + string(e.Tool), Wider: wider, Sentence: string(e.Tool) + " runs unasked"}
	var files []string
	for _, l := range e.Leaves {
		if text, isText := textOf(l.JSON); isText && l.Type == schema.Path.String() {
			files = append(files, string(text))
		}
	}
	if len(files) == 1 {
		x.Name, x.Title = "file", "this file: "+files[0]
		x.Sentence += " for " + files[0]
	}
	return x, true
}

// opened returns the names of the parameters that values leave open.
func opened(wider []Value) (names []string) {
	for _, w := range wider {
		if w.How == Open {
			names = append(names, w.Pointer)
		}
	}
	return names
}

// isOpened reports whether values leave a leaf open.
func isOpened(wider []Value, l gate.Leaf) bool {
	return slices.ContainsFunc(wider, func(w Value) bool { return w.leaves(l) })
}

// isEmpty reports whether a leaf is that of arguments without any value.
func isEmpty(l gate.Leaf) bool { return l.Pointer == "" && l.JSON == "{}" }
