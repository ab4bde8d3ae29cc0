package tomltree

// With returns a table like v with other members, whose keys must differ.
func (v *Value) With(entries []*Entry) *Value {
	made := *v
	made.Entries, made.index = nil, nil
	for _, e := range entries {
		made.add(e)
	}
	return &made
}

// WithElements returns an array like v with other elements.
func (v *Value) WithElements(elements []*Value) *Value {
	made := *v
	made.Elements = elements
	return &made
}

// Mode returns the table `{ mode = v }` at the place of v.
func (v *Value) Mode() *Value {
	return &Value{Kind: Table, Inline: true, Range: v.Range, doc: v.doc, Entries: []*Entry{{Key: "mode", KeyRange: v.Range, Value: v}}}
}
