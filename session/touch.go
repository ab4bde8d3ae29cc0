package session

// Keys are the cells that a fact touches; they must be loaded for [Apply]. Those
// that a result touches are the keys of its Released fact.
func (f *Fact) Keys() []Key { return f.AppendKeys(make([]Key, 0, 3+len(f.Marks))) }

// AppendKeys adds the cells that a fact touches to those of a list that has no key
// twice.
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
	case Told:
		k = DataKey
	case Noted, Denied:
		k = f.Key
	}
	if k == (Key{}) {
		return keys
	}
	return addKey(keys, &k)
}

func (f *Fact) idKey() Key { return OpenKey(f.CallID, f.Tool) }

// usualCells is room for what an ordinary call touches.
const usualCells = 8

// touched appends the entries of a released call: its own, that of its id, and those of
// its marks.
func (s *State) touched(found []*Entry, f *Fact) ([]*Entry, error) {
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
