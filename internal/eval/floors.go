package eval

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
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

// protectedAs are the strings that the protected list applies to.
var protectedAs = []struct {
	need textNeed
	as   schema.Annotation
}{{watchTarget, schema.Path}, {watchFiles, schema.Patch}, {watchWords, schema.Command}}

// protected checks the path or command that has just ended against the protected list (K2, S4).
func (e *leafTests) protected(w *textWatch) {
	if !w.view.applies || e.probing {
		return
	}
	strictest := condition.Unprotected
	var unknown condition.Unknown
	for _, list := range w.view.protected {
		for _, watched := range protectedAs {
			if w.shape.needs&watched.need != 0 {
				p, lacks := list.Judge(e.stringValue(), watched.as)
				strictest, unknown = max(strictest, p), unknown|lacks
			}
		}
	}
	switch {
	case strictest != condition.UnknownTarget:
	case unknown == condition.Known: // its length leaves out readings
		e.floorHere(stopgate.Ask, stopgate.CodeMatcherBudget)
	default:
		e.unknownPaths |= unknown
		e.floorHere(stopgate.Ask, stopgate.CodePathNotKnown)
	}
	switch strictest {
	case condition.AskedTarget:
		e.floorHere(stopgate.Ask, stopgate.CodeProtectedTarget)
	case condition.DeniedTarget:
		e.floorHere(stopgate.Deny, stopgate.CodeProtectedTarget)
	}
	if w.shape.needs&watchFiles != 0 {
		if !e.plan.table.IsPatch(e.stringValue()) {
			e.floorHere(stopgate.Ask, stopgate.CodePatchNotReadable)
		}
	}
	if w.shape.needs&watchTarget != 0 && !e.unclean {
		e.unclean = !pathform.Of(e.stringValue()).IsClean()
	}
	if w.shape.analyse && !e.line().Analysable(w.shape.redirects) {
		e.floorHere(stopgate.Ask, stopgate.CodeCommandNotAnalysable)
	}
}
