package index

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// state is all that a view has. It is not changed once an index has it.
type state struct {
	batch          int // the number of batches
	texts          int // the number of texts
	person         int // the batch of the person's latest message
	before         int // the number of texts before it
	lastUser       bool
	know           flow.Knowledge
	damaged        bool // texts or marks are missing: nothing is certain
	said, anywhere []string
	sets           []set
	tools          []reading
	chains         [writtenChain][]part // those with texts of the conversation
}

// set is a set of sources that texts have.
type set struct {
	sources   []flow.Source
	suspected []flow.Source
	name      flow.Source // for explanations
	result    bool        // texts of results
	hidden    bool
	last      int  // the batch of the latest text
	dropped   bool // texts are no longer in the index
	opaque    bool // texts have more than the index
}

// reading is that a result of a tool was read, last in a batch.
type reading struct {
	tool stopgate.ToolName
	last int
}

// part is the texts that a view has of a volume: the first ones.
type part struct {
	*volume
	texts int
}

func newSet(sources []flow.Source) set {
	var s set
	for _, source := range sources {
		if name, ok := strings.CutPrefix(string(source), suspicion); ok {
			s.suspected = append(s.suspected, flow.Source(name))
		} else {
			s.sources = append(s.sources, source)
		}
	}
	for _, source := range s.sources {
		switch source {
		case flow.Tool:
			s.result = true
		case flow.Hidden:
			s.hidden = true
		case flow.User, flow.System, flow.Untrusted:
		default:
			if s.name == "" {
				s.name = source
			}
		}
	}
	if s.name == "" && len(s.sources) > 0 {
		s.name = s.sources[0]
	}
	return s
}

// suspicion begins the name of a suspected source in the sets of records.
const suspicion = "?"

// withSuspected returns the sources of a text as one set.
func withSuspected(sources, suspected []flow.Source) []flow.Source {
	if len(suspected) == 0 {
		return sources
	}
	all := slices.Clone(sources)
	for _, s := range suspected {
		all = append(all, suspicion+s)
	}
	return all
}

// next returns a copy for the next batch.
func (s *state) next() *state {
	n := *s
	n.batch++
	n.sets, n.tools = slices.Clone(s.sets), slices.Clone(s.tools)
	return &n
}

// read notes that a result of a tool was read.
func (s *state) read(tool stopgate.ToolName) {
	i := slices.IndexFunc(s.tools, func(r reading) bool { return r.tool == tool })
	if i < 0 {
		if len(s.tools) >= maxTools {
			tool = "" // any tool
		}
		if i = slices.IndexFunc(s.tools, func(r reading) bool { return r.tool == tool }); i < 0 {
			i = len(s.tools)
			s.tools = append(s.tools, reading{tool: tool})
		}
	}
	s.tools[i].last = s.batch
}

// view implements [flow.View].
type view struct {
	ix *Index
	*state
}

// Said reports whether a message of the person matched.
func (v *view) Said(key string) bool {
	return !v.damaged && (slices.Contains(v.said, key) || slices.Contains(v.anywhere, key))
}

// Read reports whether texts may have been read.
func (v *view) Read(q *flow.Query, tool func(name string) bool, untilUser bool) bool {
	if v.unreported(q.Sources) || v.damaged || tool != nil && v.know&flow.KnowsResults == 0 {
		return true
	}
	since := 0
	if untilUser {
		since = v.person
	}
	for i := range v.sets {
		if s := &v.sets[i]; s.last > since && s.matches(q) {
			return true
		}
	}
	for _, r := range v.tools {
		if tool != nil && r.last > since && (r.tool == "" || tool(string(r.tool))) {
			return true
		}
	}
	return false
}

// matches reports whether texts of the set are searched by a query.
func (s *set) matches(q *flow.Query) bool {
	return s.certain(q, false) || slices.ContainsFunc(q.Sources, func(want flow.Source) bool { return slices.Contains(s.suspected, want) })
}

// certain reports whether texts of the set have, for certain, a source of a query. earlier is set
// for texts before the person's latest message where only that one is the user's.
func (s *set) certain(q *flow.Query, earlier bool) bool {
	return slices.ContainsFunc(q.Sources, func(want flow.Source) bool {
		return want == flow.Untrusted && s.untrusted(q.Trusted) || slices.Contains(s.sources, want) && !(earlier && want == flow.User)
	})
}

// untrusted reports whether the texts are of results without a trusted source, or hidden.
func (s *set) untrusted(trusted []flow.Source) bool {
	if s.hidden {
		return true
	}
	return (s.result || len(s.suspected) > 0) && !slices.ContainsFunc(s.sources, func(have flow.Source) bool { return slices.Contains(trusted, have) })
}

// unreported reports whether the surface does not report the texts of one of the sources.
func (v *view) unreported(sources []flow.Source) bool {
	for _, source := range sources {
		need := flow.KnowsResults
		switch source {
		case flow.User:
			need = flow.KnowsUser
		case flow.System:
			need = flow.KnowsSystem
		}
		if v.know&need == 0 {
			return true
		}
	}
	return false
}

// doubt returns why it is not known in which texts of a query a value occurs.
func (v *view) doubt(q *flow.Query) (d flow.Doubt) {
	if v.damaged || v.unreported(q.Sources) {
		d |= flow.Unreported
	}
	for i := range v.sets {
		if s := &v.sets[i]; (s.dropped || s.opaque) && s.matches(q) {
			if s.dropped {
				d |= flow.Dropped
			}
			if s.opaque {
				d |= flow.Unreported
			}
		}
	}
	return d
}
