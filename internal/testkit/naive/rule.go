package naive

import "slices"

// rule says whether all conditions hold and since when that is known; doubt is the code of a rule of
// which that follows from texts that are not known.
func (c *call) rule(r Rule, v view, one *command) (holds bool, at int, doubt string) {
	if r.absent {
		return false, 0, ""
	}
	holds = true
	failed := Never
	permissive := r.Mode == "unattended"
	var same *sameText
	if r.SameText && permissive {
		same = &sameText{}
	}
	held := ""
	by := &Cond{}
	for i := range r.All {
		if k := &r.All[i]; k.Origin() {
			h, t, d := c.where(k, permissive, v, same)
			if t < Never && !h {
				// A value that ends with the bytes of the object fails before what is absent from it.
				if holds = false; t < failed || t == failed && doubt == "" && !slices.Equal(k.Arg, by.Arg) {
					failed, doubt, by = t, d, k
				}
			}
			if h && d != "" {
				held = d
			}
			at = max(at, t)
			continue
		}
		h, t := c.cond(&r.All[i], permissive, v)
		if one != nil && r.All[i].commands(v) {
			h, t = one.answers(c, &r.All[i], r.Mode == "unattended", v)
		}
		if t < Never && !h {
			if holds = false; t < failed {
				failed, doubt, by = t, "", &r.All[i]
			}
		}
		at = max(at, t)
	}
	switch {
	case !holds && permissive:
		return false, failed, doubt
	case !holds:
		return false, failed, ""
	case permissive:
		return true, at, ""
	}
	return true, at, held
}
