package session

// Keys returns the cells that a fact changes, which must be loaded for [Apply]. The end of a
// call also changes the cells of its Released fact.
func (f *Fact) Keys() []Key { return f.AppendKeys(make([]Key, 0, 3+len(f.Marks))) }

// AppendKeys appends the cells that a fact changes to a list without duplicates.
func (f *Fact) AppendKeys(keys []Key) []Key {
	keys = addKey(keys, &Self)
	var k Key
	switch f.Kind {
	case Released:
		id := f.idKey()
		keys = addKey(keys, &id)
		for i := range f.Marks {
			keys = addKey(keys, &f.Marks[i].Key)
		}
		k = CallKey(f.Proposal)
	case Withdrawn, Succeeded, Finished, Failed, Absent:
		k = CallKey(f.Proposal)
	case Approved:
		k = ApprovalKey(f.Name)
	case DataReplaced:
		k = DataKey
	case Noted, Denied:
		k = f.Key
	case Begun:
		k = ProgramKey
	}
	if k == (Key{}) {
		return keys
	}
	return addKey(keys, &k)
}

func (f *Fact) idKey() Key { return OpenKey(f.CallID, f.Tool) }

// typicalCells is the capacity for the cells that a typical call changes.
const typicalCells = 8

// entriesOf appends the entries of a released call to found: that of the call, that of its
// id, and those of its marks.
func (s *State) entriesOf(found []*Entry, f *Fact) ([]*Entry, error) {
	call, id := CallKey(f.Proposal), f.idKey()
	e, err := s.find(&call)
	if err != nil {
		return nil, err
	}
	found = append(found, e)
	if e, err = s.find(&id); err != nil {
		return nil, err
	}
	found = append(found, e)
	for i := range f.Marks {
		if e, err = s.find(&f.Marks[i].Key); err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}
