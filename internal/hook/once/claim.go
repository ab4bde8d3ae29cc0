package once

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/stopgate/stopgate/jsonstream"
)

// claim is the state of one call.
type claim struct {
	key  key
	slot int       // slot of the deciding process; answered: there is an answer
	at   time.Time // time of the decision, or of its start if there is none
	// line is the line as read, until it is parsed completely, and rest its JSON.
	line, rest []byte

	caller
	answer []byte
	to     []string // hosts that have received the answer
}

// answered is the slot of a decided claim.
const answered = -1

func (k *claim) answered() bool { return k.slot == answered }

// age returns the time since the last change of a claim. If the clock was set back, the age is not
// negative.
func (k *claim) age(now time.Time) time.Duration { return now.Sub(k.at).Abs() }

// about reports whether a claim can be about a call.
func (k *claim) about(c Call) bool {
	if k.host != c.Host {
		return true // ids of different hosts cannot be compared
	}
	return k.id != "" && k.id == c.ID && k.session == c.Session
}

// share returns how often an answer is given to a host: once to another one; to its own as often as
// a hook can be in its settings in addition to the first.
func (k *claim) share(c Call) int {
	if k.host != c.Host {
		return 1
	}
	return 2
}

func (k *claim) given(host string) (n int) {
	for _, h := range k.to {
		if h == host {
			n++
		}
	}
	return n
}

// parse parses the part of a line that every lookup needs, since a table may have many lines.
func parse(line []byte) (k claim, ok bool) {
	name, rest, _ := bytes.Cut(line, []byte(" "))
	lane, rest, _ := bytes.Cut(rest, []byte(" "))
	at, rest, ok := bytes.Cut(rest, []byte(" "))
	if !ok || copy(k.key[:], name) != len(name) || len(name) != len(k.key) {
		return k, false
	}
	ms, err := strconv.ParseInt(string(at), 10, 64)
	k.slot = answered
	if err == nil && string(lane) != "-" {
		k.slot, err = strconv.Atoi(string(lane))
	}
	k.at, k.line, k.rest = time.UnixMilli(ms), line, rest
	return k, err == nil && k.slot >= answered
}

// understand parses the rest of a line, once. An invalid line matches no call.
func (k *claim) understand() bool {
	if k.line == nil {
		return true
	}
	root, err := jsonstream.Parse(k.rest, anything())
	if err != nil {
		return false
	}
	text := func(name string) string {
		v, _ := root.Get(name)
		return v.Text()
	}
	answer, ok := root.Get("said")
	if ok != k.answered() {
		return false
	}
	if ok {
		k.answer = bytes.Clone(answer.Raw())
	}
	k.caller = caller{text("host"), text("session"), text("id")}
	if to, ok := root.Get("to"); ok {
		for host := range to.Elements() {
			k.to = append(k.to, host.Text())
		}
	}
	k.line, k.rest = nil, nil
	return true
}

// anything returns the limits for parsing a line: the reader of an answer applies its own.
func anything() jsonstream.Options {
	return jsonstream.Options{
		ObjectRoot: true, MaxDepth: jsonstream.LargestMaxDepth, MaxMembers: maxTable, MaxValues: maxTable, MaxKey: maxTable, MaxBytes: maxTable,
		MaxExponent: jsonstream.AnyExponent,
	}
}

// append writes a line.
func (k *claim) append(to []byte) []byte {
	if k.line != nil {
		return append(to, k.line...)
	}
	lane := "-"
	if !k.answered() {
		lane = strconv.Itoa(k.slot)
	}
	to = fmt.Appendf(to, "%s %s %d ", k.key[:], lane, k.at.UnixMilli())
	to = jsonstream.AppendQuote(append(to, `{"host":`...), k.host)
	to = jsonstream.AppendQuote(append(to, `,"session":`...), k.session)
	to = jsonstream.AppendQuote(append(to, `,"id":`...), k.id)
	for i, host := range k.to {
		to = append(to, [2]string{`,"to":[`, `,`}[min(i, 1)]...)
		to = jsonstream.AppendQuote(to, host)
	}
	if k.to != nil {
		to = append(to, ']')
	}
	if k.answer != nil { // line breaks in it are between tokens
		to = append(append(to, `,"said":`...), bytes.ReplaceAll(k.answer, []byte("\n"), []byte(" "))...)
	}
	return append(to, "}\n"...)
}
