package jsonstream

import (
	"strconv"

	"github.com/stopgate/stopgate"
)

// state is the state of the parser, named for the token that it expects next.
type state uint8

const (
	unset    state = iota // no handler yet: refuses everything
	stopped               // the handler has decided
	failed                // p.err has the reason
	finished              // closed, and the text was accepted

	awaitValue   // a value: the root, or after a colon or a comma
	firstElement // a value, or the end of the array
	firstKey     // a key, or the end of the object
	awaitKey     // a key, after a comma
	awaitColon
	awaitNext // a comma or the end of the container
	afterRoot // white space

	inNumber
	inLiteral
	inText      // in a string or key, between two characters
	inSequence  // in a UTF-8 sequence that a chunk boundary splits
	inEscape    // after a backslash
	inHex       // in the digits of a \u escape
	awaitLow    // after the first half of a surrogate pair: a backslash
	inLowEscape // after that backslash: a "u"
)

// frame is an open array or object.
type frame struct {
	object bool
	keys   objectKeys
	// done counts the complete elements of an array, which is the index of the current
	// element.
	done uint32
}

// Parser parses one JSON text that arrives in chunks, which may end anywhere, even inside
// an escape, a UTF-8 sequence, a number or a literal name (F043-09). It reports the values
// to a [Handler], each at the first byte that shows it. It accepts any root (F043-06)
// unless [Options.ObjectRoot] is set. It does not recurse or, once its buffers have grown,
// allocate, and it is not safe for concurrent use. A zero Parser, and one without a
// handler, refuses all text.
type Parser struct {
	handler        Handler
	encodedHandler EncodedTextHandler // the handler, if it is one
	options        Options
	event          Event
	state          state
	err            *Error
	// offset counts the bytes consumed before the current chunk; after the end, the bytes
	// up to the event or error that ended the parse.
	offset int64
	frames []frame
	values int // number of started values
	keys   keySet
	number number
	token  []byte // a number that a chunk boundary splits
	name   string // the current literal name, and the number of its bytes that were read
	seen   int
	text   textState
}

// NewParser returns a parser that reports to h.
func NewParser(h Handler, o Options) *Parser {
	p := new(Parser)
	p.Reset(h, o)
	return p
}

// Reset prepares the parser for a new text and retains its buffers.
func (p *Parser) Reset(h Handler, o Options) {
	p.keys.reset(nil)
	p.handler, p.options, p.event = h, o, Event{}
	p.encodedHandler, _ = h.(EncodedTextHandler)
	p.options.fill()
	p.state, p.err, p.offset = awaitValue, nil, 0
	p.values = 0
	p.frames, p.token = p.frames[:0], reuse(p.token, maxKeptBytes)
	p.text = textState{}
	if h == nil {
		p.state = unset
	}
}

// Feed parses the next bytes of the text. The error is an *[Error], is final, and is
// returned by every later call. Once the handler has stopped the parser, and after Close,
// Feed ignores its input.
func (p *Parser) Feed(chunk []byte) error {
	if p.state < awaitValue {
		return p.Err()
	}
	left := p.options.MaxBytes - p.offset
	over := int64(len(chunk)) > left
	if over {
		chunk = chunk[:left]
	}
	for i := 0; i < len(chunk); {
		switch p.state {
		case stopped, failed:
			return p.Err()
		case inText:
			i = p.readText(chunk, i)
		case inNumber:
			i = p.readNumber(chunk, i)
		case inLiteral:
			i = p.readName(chunk, i)
		case inSequence, inEscape, inHex, awaitLow, inLowEscape:
			p.readPending(chunk[i], p.offset+int64(i)+1)
			i++
		default:
			if c := chunk[i]; !isSpace(c) {
				p.readStructure(c, p.offset+int64(i)+1)
			}
			i++
		}
	}
	if p.state >= awaitValue {
		p.offset += int64(len(chunk))
		if over {
			p.fail(stopgate.CodeLimitExceeded, p.offset+1, "the text is too long")
		}
	}
	return p.Err()
}

// Close ends the text. It returns truncated_arguments for an incomplete text, and
// malformed_arguments with Empty set for a text without a value. If Feed returned an error,
// Close returns the same.
func (p *Parser) Close() error {
	switch {
	case p.state < awaitValue:
	case p.state == afterRoot:
		p.state = finished
	case len(p.frames) == 0 && (p.state == inNumber && p.number.complete() || p.state == inLiteral && p.seen == len(p.name)):
		p.endScalar(p.offset)
		if p.state != stopped {
			p.state = finished
		}
	case len(p.frames) == 0 && p.state == awaitValue:
		p.fail(stopgate.CodeMalformedArguments, p.offset, "there is no value")
		p.err.Empty = true
	default:
		p.fail(stopgate.CodeTruncatedArguments, p.offset, "the text ends before it is complete")
	}
	return p.Err()
}

// Err returns the error that ended the parse, an *[Error], or nil.
func (p *Parser) Err() error {
	switch {
	case p.err != nil:
		return p.err
	case p.state == unset:
		return &Error{Code: stopgate.CodeMalformedArguments, Detail: "nobody would hear of the text"}
	}
	return nil
}

// Offset returns the number of consumed bytes: those fed so far or, after a stop or an
// error, those up to that event or error.
func (p *Parser) Offset() int64 { return p.offset }

// Stopped reports whether the handler stopped the parser.
func (p *Parser) Stopped() bool { return p.state == stopped }

// emit passes an event to the handler whose last byte is the byte number offset. The state
// must already be the one after the event.
func (p *Parser) emit(kind Kind, text []byte, offset int64, escaped bool) {
	// Field by field: a whole struct would be built separately and then copied.
	e := &p.event
	e.Kind, e.Text, e.Offset, e.Escaped = kind, text, offset, escaped
	if p.handler.Event(e) {
		p.state, p.offset = stopped, offset
	}
}

// fail ends the parse with an error that the byte number offset shows.
func (p *Parser) fail(code stopgate.Code, offset int64, detail string) {
	p.err = &Error{Code: code, Offset: offset, Pointer: string(p.appendPointer(nil)), Detail: detail}
	p.state, p.offset = failed, offset
}

func (p *Parser) malformed(offset int64, detail string) {
	p.fail(stopgate.CodeMalformedArguments, offset, detail)
}

// readStructure processes a byte outside of strings, numbers and literal names that is not
// white space.
func (p *Parser) readStructure(c byte, at int64) {
	switch {
	case p.state == awaitNext && c == ',':
		p.state = awaitValue
		if p.top().object {
			p.state = awaitKey
		}
	case p.state == awaitColon && c == ':':
		p.state = awaitValue
	case c == '"' && (p.state == firstKey || p.state == awaitKey):
		p.startKey(at)
	case c == ']' && (p.state == firstElement || p.state == awaitNext && !p.top().object):
		p.closeContainer(ArrayEnd, at)
	case c == '}' && (p.state == firstKey || p.state == awaitNext && p.top().object):
		p.closeContainer(ObjectEnd, at)
	case p.state == awaitValue || p.state == firstElement:
		p.startValue(c, at)
	case p.state == afterRoot:
		p.fail(stopgate.CodeTrailingData, at, "data behind the value")
	default:
		p.malformed(at, unexpected(p.state, c))
	}
}

// unexpected returns the message for the byte c in a state.
func unexpected(s state, c byte) string {
	switch s {
	case awaitColon:
		return "a colon is missing"
	case firstKey, awaitKey:
		if c == '}' {
			return "a comma without a member behind it"
		}
		return "a key is not a string"
	}
	return "a comma or the end of the container is missing"
}

// startValue processes the first byte of a value.
func (p *Parser) startValue(c byte, at int64) {
	if !startsValue(c) {
		p.malformed(at, "this is not the start of a value")
		return
	}
	p.state = awaitValue
	if p.options.ObjectRoot && len(p.frames) == 0 && c != '{' {
		p.fail(stopgate.CodeNonObjectRoot, at, "the root is not an object")
		return
	}
	if p.values == p.options.MaxValues {
		p.fail(stopgate.CodeLimitExceeded, at, "there are too many values")
		return
	}
	p.values++
	switch c {
	case '{':
		if p.open(true, at) {
			p.state = firstKey
			p.emit(ObjectStart, nil, at, false)
		}
	case '[':
		if p.open(false, at) {
			p.state = firstElement
			p.emit(ArrayStart, nil, at, false)
		}
	case '"':
		p.text = textState{}
		p.state = inText
		p.emit(StringStart, nil, at, false)
	case 't':
		p.startName("true")
	case 'f':
		p.startName("false")
	case 'n':
		p.startName("null")
	default:
		p.token = append(p.token[:0], c)
		p.number = startNumber(c, p.options.MaxExponent)
		p.state = inNumber
	}
}

// startsValue reports whether a value can start with c.
func startsValue(c byte) bool {
	switch c {
	case '{', '[', '"', 't', 'f', 'n', '-':
		return true
	}
	return '0' <= c && c <= '9'
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func (p *Parser) top() *frame { return &p.frames[len(p.frames)-1] }

// open enters an array or object, unless it exceeds the depth limit.
func (p *Parser) open(object bool, at int64) bool {
	if len(p.frames) == p.options.MaxDepth {
		p.fail(stopgate.CodeLimitExceeded, at, "the nesting is too deep")
		return false
	}
	p.frames = append(p.frames, frame{object: object, keys: p.keys.open()})
	return true
}

func (p *Parser) closeContainer(end Kind, at int64) {
	p.keys.close(&p.top().keys)
	p.frames = p.frames[:len(p.frames)-1]
	p.endValue(end, nil, at)
}

// endValue emits the last event of a value and, if it was the root, End.
func (p *Parser) endValue(last Kind, text []byte, at int64) {
	if len(p.frames) > 0 {
		p.top().done++
		p.state = awaitNext
		p.emit(last, text, at, false)
		return
	}
	p.state = afterRoot
	p.emit(last, text, at, false)
	if p.state != stopped {
		p.emit(End, nil, at, false)
	}
}

// appendPointer appends the pointer of the value that is being read or expected.
func (p *Parser) appendPointer(dst []byte) []byte {
	for i := range p.frames {
		f := &p.frames[i]
		if i == len(p.frames)-1 && p.betweenMembers() {
			break
		}
		if !f.object {
			dst = strconv.AppendUint(append(dst, '/'), uint64(f.done), 10)
			continue
		}
		last := len(p.keys.list)
		if i+1 < len(p.frames) {
			last = int(p.frames[i+1].keys.first)
		}
		dst = AppendToken(dst, p.keys.bytes(&p.keys.list[last-1]))
	}
	return dst
}

// betweenMembers reports whether the parser is between members or elements of the innermost
// container.
func (p *Parser) betweenMembers() bool {
	switch p.state {
	case firstElement, firstKey, awaitKey, awaitNext:
		return true
	case inText, inSequence, inEscape, inHex, awaitLow, inLowEscape:
		return p.text.key
	}
	return false
}
