package eval

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// unknown takes a key that the schema of a view does not declare (K24, B6).
func (e *decision) unknown(v *view) {
	if !v.applies || v.params == syntax.ParamAllow {
		return
	}
	mode := stopgate.Ask
	if v.params == syntax.ParamDeny {
		mode = stopgate.Deny
	}
	e.floorHere(mode, stopgate.CodeUnknownParameter)
}

// ambiguous takes a key that some parsers read as a parameter that is already present, or as a
// declared one (A4-A6, A25, B6).
func (e *decision) ambiguous(v *view) {
	if v.applies && !e.probing {
		e.fail(stopgate.CodeAmbiguousKey, e.here(), "")
	}
}

// floorHere raises a floor for the current value, once for each code and byte.
func (e *decision) floorHere(mode stopgate.Mode, code stopgate.Code) {
	if e.probing {
		return
	}
	for i := range e.floors {
		if f := &e.floors[i]; f.At == e.at && f.Code == code {
			if f.Mode != stopgate.Strictest(f.Mode, mode) {
				f.Mode, e.dirty = mode, true
			}
			return
		}
	}
	e.floor(mode, code, e.here())
}

// here returns the pointer of the current value.
func (e *decision) here() string { return string(e.spine.pointer(e.spine.mark())) }

// controlFound takes a control character in a path or command (A11).
func (e *decision) controlFound(v *view) {
	if v.applies {
		e.floorHere(stopgate.Ask, stopgate.CodeControlCharacter)
	}
}

// control returns the number of bytes of a text up to and including its first control character, 0
// if there is none. tabs allows tab and line feed, which separate words and lines of commands.
func control(text []byte, tabs bool) int {
	for i, c := range text {
		if ' ' <= c && c <= '~' {
			continue
		}
		switch {
		case tabs && (c == '\t' || c == '\n'):
		case c < 0x20 || c == 0x7f:
			return i + 1
		case c == 0xc2 && text[i+1] < 0xa0: // U+0080 to U+009F
			return i + utf8.RuneLen(rune(text[i+1]))
		}
	}
	return 0
}

// protected checks the path or command that has just ended against the protected list (K2, S4).
func (e *leafTests) protected(w *textWatch) {
	if !w.view.applies || e.probing {
		return
	}
	strictest := protected.None
	var unknown pathform.Unknown
	for _, list := range w.view.protected {
		if w.shape.needs&watchTarget != 0 {
			p, _ := list.PathOf(e.stringValue().AsPath())
			if strictest = max(strictest, p); p == protected.UnknownTarget {
				unknown |= list.UnknownPath(e.stringValue().AsPath())
			}
		}
		if w.shape.needs&watchFiles != 0 {
			files, _ := e.stringValue().PatchFiles()
			for _, f := range files {
				p, _ := list.Path([]byte(f))
				strictest = max(strictest, p)
			}
		}
		if w.shape.needs&watchWords != 0 {
			p, _ := list.JudgeCommand(e.stringValue().AsLine())
			if strictest = max(strictest, p); p == protected.UnknownTarget {
				unknown |= list.UnknownCommand(e.stringValue().AsLine())
			}
		}
	}
	switch {
	case strictest != protected.UnknownTarget:
	case unknown == pathform.Known: // its length leaves out readings
		e.floorHere(stopgate.Ask, stopgate.CodeMatcherBudget)
	default:
		e.unknownPaths |= unknown
		e.floorHere(stopgate.Ask, stopgate.CodePathNotKnown)
	}
	switch strictest {
	case protected.Ask:
		e.floorHere(stopgate.Ask, stopgate.CodeProtectedTarget)
	case protected.Denied:
		e.floorHere(stopgate.Deny, stopgate.CodeProtectedTarget)
	}
	if w.shape.needs&watchFiles != 0 {
		if _, ok := e.stringValue().PatchFiles(); !ok {
			e.floorHere(stopgate.Ask, stopgate.CodePatchNotReadable)
		}
	}
	if w.shape.needs&watchTarget != 0 && !e.unclean {
		e.unclean = !e.stringValue().IsClean()
	}
	if w.shape.analyse && !e.stringValue().Analysable(w.shape.redirects) {
		e.floorHere(stopgate.Ask, stopgate.CodeCommandNotAnalysable)
	}
}
