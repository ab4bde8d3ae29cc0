package pathform

// Examined is the result of an examination of a path.
type Examined struct {
	Canonical                   string
	Absolute, High, Upper, Wild bool
	Plain                       bool
}

func examined(canonical []byte, info Lexical, plain bool) Examined {
	if !plain {
		return Examined{} // the other results are undefined
	}
	return Examined{string(canonical), info.Absolute, info.High, info.Upper, info.wild, true}
}

// Examine examines a path as every matcher does.
func Examine(path string) Examined { return examined(ExaminePath(nil, []byte(path))) }

// ExamineComponents is Examine without the fast path.
func ExamineComponents(path string) Examined { return examined(examineComponents(nil, []byte(path))) }
