package external

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Protocol is the version of the protocol.
const Protocol = 1

// The kinds of questions about calls. Those of exchanges have the names of their hooks.
const (
	askGate    = "gate"
	askHandoff = "handoff"
	askCheck   = "session_check"
	askResult  = "session_result"
	askJudge   = "judge"
)

// object writes a JSON object.
type object struct{ text []byte }

func (o *object) key(name string) {
	if len(o.text) == 0 {
		o.text = append(o.text, '{')
	} else {
		o.text = append(o.text, ',')
	}
	o.text = append(jsonstream.AppendQuote(o.text, name), ':')
}

// string writes a member; an empty text is left out.
func (o *object) string(name, text string) {
	if text != "" {
		o.key(name)
		o.text = jsonstream.AppendQuote(o.text, text)
	}
}

// text writes a member that is never left out.
func (o *object) always(name, text string) {
	o.key(name)
	o.text = jsonstream.AppendQuote(o.text, text)
}

// raw writes a member with a JSON value, null if it is empty.
func (o *object) raw(name string, value []byte) {
	o.key(name)
	if len(value) == 0 {
		value = []byte("null")
	}
	o.text = append(o.text, value...)
}

func (o *object) int(name string, n int64) {
	o.key(name)
	o.text = strconv.AppendInt(o.text, n, 10)
}

func (o *object) bool(name string, is bool) {
	o.key(name)
	o.text = strconv.AppendBool(o.text, is)
}

func (o *object) end() []byte {
	if len(o.text) == 0 {
		return []byte("{}")
	}
	return append(o.text, '}')
}

// question is one question to a service.
type question struct {
	ask      string // its kind
	hook     string // of the table
	proposal stopgate.ProposalID
	members  object // everything but protocol, id, policy and ask
}

// encode returns the text of a question with an id of its own, and the hash of everything else.
func (s *service) encode(q *question) (text []byte, id string, sum [sha256.Size]byte) {
	var random [12]byte
	rand.Read(random[:])
	id = hex.EncodeToString(random[:])
	var rest object
	rest.always("policy", s.table.Name)
	rest.always("ask", q.ask)
	body := append(append(rest.text, ','), q.members.end()[1:]...)
	sum = sha256.Sum256(body)
	var head object
	head.int("protocol", Protocol)
	head.always("id", id)
	return append(append(head.text, ','), body[1:]...), id, sum
}

// callOf describes a call: args are the arguments that would run, as JSON.
func callOf(c *stopgate.Call, id stopgate.ProposalID, args string) object {
	var o object
	o.always("proposal", string(id))
	o.always("tool", string(c.Tool))
	o.raw("args", []byte(args))
	o.string("server", string(c.Server))
	o.string("agent", string(c.Agent))
	o.string("session", string(c.Session))
	o.string("turn", string(c.Turn))
	o.string("call_id", string(c.ID))
	o.string("principal", string(c.Principal))
	o.string("surface", string(c.Surface))
	return o
}
