package once

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/stopgate/stopgate/jsonstream"
)

// claim is what is known of one call.
type claim struct {
	key  key
	lane int       // of who decides; answered: there is an answer
	at   time.Time // of the decision, or its beginning where there is none
	// line is what stands there, as long as nobody asks what it says, and rest its JSON.
	line, rest []byte

	caller
	said []byte
	to   []string // hosts that the answer was given to
}

// answered is the lane of a claim about which nobody decides any more.
const answered = -1

func (k *claim) answered() bool { return k.lane == answered }

// age is how long ago something happened to a claim. A clock that was put back makes none
// young.
func (k *claim) age(now time.Time) time.Duration { return now.Sub(k.at).Abs() }

// about reports whether a claim can be about a call.
func (k *claim) about(c Call) bool {
	if k.host != c.Host {
		return true // what their ids say of each other is not known
	}
	return k.id != "" && k.id == c.ID && k.session == c.Session
}

// share is how often an answer is given to a host: once to another one; to its own as
// often as a hook can stand in settings beside the first.
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

// parse reads what everybody needs of a line. Under many calls a table has many.
func parse(line []byte) (k claim, ok bool) {
	name, rest, _ := bytes.Cut(line, []byte(" "))
	lane, rest, _ := bytes.Cut(rest, []byte(" "))
	at, rest, ok := bytes.Cut(rest, []byte(" "))
	if !ok || copy(k.key[:], name) != len(name) || len(name) != len(k.key) {
		return k, false
	}
	ms, err := strconv.ParseInt(string(at), 10, 64)
	k.lane = answered
	if err == nil && string(lane) != "-" {
		k.lane, err = strconv.Atoi(string(lane))
	}
	k.at, k.line, k.rest = time.UnixMilli(ms), line, rest
	return k, err == nil && k.lane >= answered
}

// understand reads all of a line, unless it has. One that says nothing is nobody's.
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
	said, ok := root.Get("said")
	if ok != k.answered() {
		return false
	}
	if ok {
		k.said = bytes.Clone(said.Raw())
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

// anything are the limits of what stands in a line: those of the answer in it are its
// reader's.
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
		lane = strconv.Itoa(k.lane)
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
	if k.said != nil { // a break in it stands between tokens
		to = append(append(to, `,"said":`...), bytes.ReplaceAll(k.said, []byte("\n"), []byte(" "))...)
	}
	return append(to, "}\n"...)
}
