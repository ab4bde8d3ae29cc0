package regular

import (
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/automaton"
)

// property parses "{...}" behind "\p" or "\P" and returns the code points of the
// Unicode property. Names are exactly those of ECMA-262 (section 22.2.1,
// tables of binary properties, general categories and scripts); the code points
// are those of the Unicode version of Go's tables.
func (p *parser) property(at int) set {
	if !p.accept("{") {
		p.fail(at, `"\p" needs a property in braces`, `"\p{Letter}", "\p{Script=Greek}"`)
	}
	end := strings.IndexByte(p.text[p.pos:], '}')
	if end < 0 {
		p.fail(at, "the property is not closed", "")
	}
	text := p.text[p.pos : p.pos+end]
	p.pos += end + 1
	s, known := p.properties[text]
	if !known {
		s = p.lookUp(at, text)
		p.properties[text] = s
	}
	return s
}

// lookUp finds the property inside the braces.
func (p *parser) lookUp(at int, text string) set {
	name, value, pair := strings.Cut(text, "=")
	if !pair {
		if s, ok := category(name); ok {
			return s
		}
		if build, ok := binaryProperty(name); ok {
			if build == nil {
				p.refuse(at, "the property "+name+" is not supported", "")
			}
			return build()
		}
		p.fail(at, "there is no such property", propertyHint(name))
	}
	switch name {
	case "General_Category", "gc":
		if s, ok := category(value); ok {
			return s
		}
	case "Script", "sc":
		if s, ok := script(value); ok {
			return s
		}
	case "Script_Extensions", "scx":
		if _, ok := script(value); ok {
			p.refuse(at, "Script_Extensions is not supported", `write "\p{Script=`+value+`}"`)
		}
	}
	p.fail(at, "there is no such property", "")
	return nil
}

// refuse stops at something that ECMA-262 allows and this package has no data for.
func (p *parser) refuse(at int, message, hint string) {
	panic(syntaxErr{&SyntaxError{Offset: at, Message: message, Hint: hint, Unsupported: true}})
}

// propertyHint helps with the spellings of other dialects.
func propertyHint(name string) string {
	if _, ok := script(name); ok {
		return `write "\p{Script=` + name + `}"`
	}
	return ""
}

// categoryNames lists the names of each general category by its short one.
const categoryNames = `
C Other
Cc Control cntrl
Cf Format
Cn Unassigned
Co Private_Use
Cs Surrogate
L Letter
LC Cased_Letter
Ll Lowercase_Letter
Lm Modifier_Letter
Lo Other_Letter
Lt Titlecase_Letter
Lu Uppercase_Letter
M Mark Combining_Mark
Mc Spacing_Mark
Me Enclosing_Mark
Mn Nonspacing_Mark
N Number
Nd Decimal_Number digit
Nl Letter_Number
No Other_Number
P Punctuation punct
Pc Connector_Punctuation
Pd Dash_Punctuation
Pe Close_Punctuation
Pf Final_Punctuation
Pi Initial_Punctuation
Po Other_Punctuation
Ps Open_Punctuation
S Symbol
Sc Currency_Symbol
Sk Modifier_Symbol
Sm Math_Symbol
So Other_Symbol
Z Separator
Zl Line_Separator
Zp Paragraph_Separator
Zs Space_Separator
`

// category finds a general category by any of its names.
func category(name string) (set, bool) {
	short, ok := lookup(categoryNames, name)
	if !ok {
		return nil, false
	}
	return tables(unicode.Categories[short]), true
}

// lookup finds the first word of the line that has name as one of its words.
func lookup(lines, name string) (string, bool) {
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for _, word := range words {
			if word == name {
				return words[0], true
			}
		}
	}
	return "", false
}

// propertyTable is a property that Go's tables hold as it is.
func propertyTable(name string) func() set {
	return func() set { return tables(unicode.Properties[name]) }
}

// binaryProperty finds a binary property by its long or short name. The function
// is nil if ECMA-262 has the property and Go has no tables to derive it from.
// Derivations are those of Unicode's DerivedCoreProperties.
func binaryProperty(name string) (build func() set, ok bool) {
	switch name {
	case "Any":
		return everything, true
	case "ASCII":
		return func() set { return automaton.Ranges(0, unicode.MaxASCII) }, true
	case "Assigned":
		return func() set { return tables(unicode.Categories["Cn"]).Complement() }, true
	case "Alphabetic", "Alpha":
		return func() set {
			return tables(unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lm, unicode.Lo, unicode.Nl, unicode.Other_Alphabetic)
		}, true
	case "Cased":
		return func() set {
			return tables(unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Uppercase, unicode.Other_Lowercase)
		}, true
	case "Grapheme_Extend", "Gr_Ext":
		return graphemeExtend, true
	case "Grapheme_Base", "Gr_Base":
		return func() set {
			return union(tables(unicode.Categories["C"], unicode.Zl, unicode.Zp), graphemeExtend()).Complement()
		}, true
	case "ID_Start", "IDS":
		return func() set { start, _ := identifiers(); return start }, true
	case "ID_Continue", "IDC":
		return func() set { _, part := identifiers(); return part }, true
	case "Lowercase", "Lower":
		return func() set { return tables(unicode.Ll, unicode.Other_Lowercase) }, true
	case "Uppercase", "Upper":
		return func() set { return tables(unicode.Lu, unicode.Other_Uppercase) }, true
	case "Math":
		return func() set { return tables(unicode.Sm, unicode.Other_Math) }, true
	}
	if long, ok := lookup(tabledProperties, name); ok {
		return propertyTable(long), true
	}
	_, ok = lookup(unsupportedProperties, name)
	return nil, ok
}

// identifiers returns ID_Start and ID_Continue.
func identifiers() (start, part set) {
	never := tables(unicode.Pattern_Syntax, unicode.Pattern_White_Space)
	start = tables(unicode.L, unicode.Nl, unicode.Other_ID_Start)
	part = union(start, tables(unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue))
	return start.Minus(never), part.Minus(never)
}

func graphemeExtend() set {
	return tables(unicode.Me, unicode.Mn, unicode.Other_Grapheme_Extend)
}

// tabledProperties are the binary properties that Go has tables of: long name,
// short name.
const tabledProperties = `
ASCII_Hex_Digit AHex
Bidi_Control Bidi_C
Dash
Deprecated Dep
Diacritic Dia
Extender Ext
Hex_Digit Hex
IDS_Binary_Operator IDSB
IDS_Trinary_Operator IDST
Ideographic Ideo
Join_Control Join_C
Logical_Order_Exception LOE
Noncharacter_Code_Point NChar
Pattern_Syntax Pat_Syn
Pattern_White_Space Pat_WS
Quotation_Mark QMark
Radical
Regional_Indicator RI
Sentence_Terminal STerm
Soft_Dotted SD
Terminal_Punctuation Term
Unified_Ideograph UIdeo
Variation_Selector VS
White_Space space
`

// unsupportedProperties are the binary properties of ECMA-262 that Go's tables do
// not give.
const unsupportedProperties = `
Bidi_Mirrored Bidi_M
Case_Ignorable CI
Changes_When_Casefolded CWCF
Changes_When_Casemapped CWCM
Changes_When_Lowercased CWL
Changes_When_NFKC_Casefolded CWKCF
Changes_When_Titlecased CWT
Changes_When_Uppercased CWU
Default_Ignorable_Code_Point DI
Emoji
Emoji_Component EComp
Emoji_Modifier EMod
Emoji_Modifier_Base EBase
Emoji_Presentation EPres
Extended_Pictographic ExtPict
XID_Continue XIDC
XID_Start XIDS
`
