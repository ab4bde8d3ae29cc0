package syntax

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// BuiltInSources are the names of sources that no file declares.
var BuiltInSources = []string{string(flow.User), string(flow.System), string(flow.Tool), string(flow.Hidden), string(flow.Untrusted)}

// HasSource reports whether a name is that of a source: a built-in one, or one that the file
// declares.
func (f *File) HasSource(name string) bool {
	return slices.Contains(BuiltInSources, name) || f.SourceNamed(flow.Source(name)) != nil
}

// SourceNamed returns the table of a source, nil if the file does not declare it.
func (f *File) SourceNamed(name flow.Source) *SourceTable {
	for _, s := range f.Sources {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// AfterTools returns the entries of After of a flow policy that are tools or globs, and AfterSources
// those that are sources.
func (s *SessionPolicy) AfterTools(f *File) []string {
	return slices.DeleteFunc(slices.Clone(s.After), f.HasSource)
}

// AfterSources returns the entries of After of a flow policy that are sources.
func (s *SessionPolicy) AfterSources(f *File) (sources []flow.Source) {
	for _, name := range s.After {
		if f.HasSource(name) {
			sources = append(sources, flow.Source(name))
		}
	}
	return sources
}

// Meaning returns the source in canonical spelling, for hashes.
func (s *SourceTable) Meaning() string {
	var b strings.Builder
	field := func(name string, v any) { fmt.Fprintf(&b, " %s=%q", name, fmt.Sprint(v)) }
	b.WriteString(string(s.Name))
	field("trusted", s.Trusted)
	for _, tool := range slices.Compact(slices.Sorted(slices.Values(s.Tools))) {
		field("tool", tool)
	}
	conditions := func(name string, list []SourceCondition) {
		var texts []string
		for _, c := range list {
			texts = append(texts, c.meaning())
		}
		slices.Sort(texts)
		for _, text := range texts {
			field(name, text)
		}
	}
	conditions("asked", s.Asked)
	conditions("where", s.Where)
	field("items", s.Items)
	field("field", s.Field)
	field("keys", s.Keys)
	field("label", s.Label)
	field("format", s.Format)
	field("last", s.Last)
	field("as", s.As)
	return b.String()
}

func (c *SourceCondition) meaning() string {
	if c.Const != nil {
		return c.Pointer.String() + " const " + c.Const.JSON
	}
	if c.Pattern != "" {
		return c.Pointer.String() + " pattern " + strconv.Quote(c.Pattern)
	}
	var names []string
	for _, name := range c.From {
		names = append(names, string(name))
	}
	slices.Sort(names)
	text := c.Pointer.String() + " from " + strings.Join(slices.Compact(names), " ")
	for _, more := range []struct{ key, value string }{{"label", c.Label}, {"as", c.As}, {"relation", c.Relation}} {
		if more.value != "" {
			text += " " + more.key + " " + strconv.Quote(more.value)
		}
	}
	return text
}

// Present reports whether the file has a [flow] table.
func (s *FlowSettings) Present() bool { return s.Written != nil }

// tightens reports whether the table has no key that makes more known than without it.
func (s *FlowSettings) tightens() bool {
	return !slices.ContainsFunc(s.Written.Entries, func(e *tomltree.Entry) bool { return e.Key != "keep" || s.Keep != "none" })
}

// meaning returns the settings that affect verdicts in canonical spelling.
func (s *FlowSettings) meaning() string {
	text := "keep=" + s.Keep + " budget=" + strconv.FormatInt(s.Budget, 10)
	for _, address := range slices.Compact(slices.Sorted(slices.Values(s.Own))) {
		text += " own=" + strconv.Quote(address)
	}
	return text
}

// sources writes the sources and the settings of [flow], nothing for a file without them.
func (w *meaning) sources(f *File) {
	sources := slices.Clone(f.Sources)
	slices.SortFunc(sources, func(a, b *SourceTable) int { return strings.Compare(string(a.Name), string(b.Name)) })
	for _, s := range sources {
		w.line("[sources] " + s.Meaning())
	}
	if f.Flow.Present() {
		w.line("[flow] " + f.Flow.meaning())
	}
}

// FlowDeclarations are the declarations of sources, settings and effects, see [File.Declarations].
func (f *File) FlowDeclarations() (list []string) {
	for _, s := range f.Sources {
		list = append(list, "source "+s.Meaning())
	}
	if f.Flow.Present() {
		list = append(list, "flow "+f.Flow.meaning())
	}
	for _, t := range f.Tools {
		if t.Effect != nil {
			list = append(list, t.Name+" effect "+strconv.FormatBool(*t.Effect))
		}
	}
	return list
}

// SaysKey identifies a condition on the words of the person.
func SaysKey(s *Says) string {
	sum := sha256.Sum256([]byte(strconv.FormatBool(s.Anywhere) + " " + s.Pattern))
	return hex.EncodeToString(sum[:8])
}

// flowParts are the keys of `when` about the person's words and the effect of the tool.
func (w *When) flowParts() (parts []formatPart) {
	if w.Says != nil {
		parts = append(parts, formatPart{key: "says", value: tomltree.Quote(w.Says.Pattern)})
		if w.Says.Anywhere {
			parts = append(parts, formatPart{key: "anywhere", value: "true"})
		}
	}
	if w.Effect != nil {
		parts = append(parts, formatPart{key: "effect", value: strconv.FormatBool(*w.Effect)})
	}
	return parts
}

// UnlessTexts returns the conditions of unless in canonical spelling.
func (s *SessionPolicy) UnlessTexts() (texts []string) { return conditionTexts(s.Unless) }

// WhereTexts returns the conditions of where in canonical spelling.
func (s *SessionPolicy) WhereTexts() (texts []string) { return conditionTexts(s.Where) }

func conditionTexts(conditions []Condition) (texts []string) {
	for i := range conditions {
		texts = append(texts, joinParts(conditionParts(&conditions[i], true)))
	}
	slices.Sort(texts)
	return texts
}
