package regular

import (
	"strings"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/ucd"
)

// property parses "{...}" after "\p" or "\P" and returns the code points of the
// Unicode property. Names are exactly those of ECMA-262 (section 22.2.1,
// tables of binary properties, general categories and scripts); the code points
// are those of Unicode 16.0.0.
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
	return p.known(at, text)
}

// known finds the property inside the braces, once for each pattern.
func (p *parser) known(at int, text string) set {
	s, known := p.properties[text]
	if !known {
		s = p.lookUp(at, text)
		p.properties[text] = s
	}
	return s
}

// lookUp finds the property in the tables.
func (p *parser) lookUp(at int, text string) set {
	name, value, pair := strings.Cut(text, "=")
	if !pair {
		if s, ok := category(name); ok {
			return s
		}
		if long, ok := lookup(binaryProperties, name); ok {
			return table(long)
		}
		p.fail(at, "there is no such property", propertyHint(name))
	}
	switch name {
	case "General_Category", "gc":
		if s, ok := category(value); ok {
			return s
		}
	case "Script", "sc":
		if s, ok := script("sc=", value); ok {
			return s
		}
	case "Script_Extensions", "scx":
		if s, ok := script("scx=", value); ok {
			return s
		}
	}
	p.fail(at, "there is no such property", "")
	return nil
}

// propertyHint helps with the spellings of other dialects.
func propertyHint(name string) string {
	if _, ok := script("sc=", name); ok {
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

// category finds a general category by any of its names. One with a short name of one
// letter has the code points of all that begin with it; LC is made of cased letters.
func category(name string) (s set, ok bool) {
	short, ok := lookup(categoryNames, name)
	if !ok {
		return nil, false
	}
	for line := range strings.Lines(categoryNames) {
		names := strings.Fields(line)
		if len(names) > 1 && len(names[0]) == 2 && names[0] != "LC" &&
			(names[0] == short || names[0][:1] == short || short == "LC" && strings.Contains("Lu Ll Lt", names[0])) {
			s = append(s, table("gc="+names[1])...)
		}
	}
	return automaton.Of(s), true
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

// table returns the code points of a property that the tables of Unicode have.
func table(name string) set {
	ranges, ok := ucd.Property(name)
	if !ok {
		panic("regular: no table of " + name) // a test asks for every name
	}
	var s set
	for low, high := range ranges {
		s = append(s, span{Low: low, High: high})
	}
	return automaton.Of(s)
}

// binaryProperties are the binary properties of ECMA-262: long name, short name.
const binaryProperties = `
ASCII
ASCII_Hex_Digit AHex
Alphabetic Alpha
Any
Assigned
Bidi_Control Bidi_C
Bidi_Mirrored Bidi_M
Case_Ignorable CI
Cased
Changes_When_Casefolded CWCF
Changes_When_Casemapped CWCM
Changes_When_Lowercased CWL
Changes_When_NFKC_Casefolded CWKCF
Changes_When_Titlecased CWT
Changes_When_Uppercased CWU
Dash
Default_Ignorable_Code_Point DI
Deprecated Dep
Diacritic Dia
Emoji
Emoji_Component EComp
Emoji_Modifier EMod
Emoji_Modifier_Base EBase
Emoji_Presentation EPres
Extended_Pictographic ExtPict
Extender Ext
Grapheme_Base Gr_Base
Grapheme_Extend Gr_Ext
Hex_Digit Hex
IDS_Binary_Operator IDSB
IDS_Trinary_Operator IDST
ID_Continue IDC
ID_Start IDS
Ideographic Ideo
Join_Control Join_C
Logical_Order_Exception LOE
Lowercase Lower
Math
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
Uppercase Upper
Variation_Selector VS
White_Space space
XID_Continue XIDC
XID_Start XIDS
`
