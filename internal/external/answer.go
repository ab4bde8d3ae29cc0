package external

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Limits of the texts in answers.
const (
	maxVersion  = 128
	maxSentence = 2000
	maxMembers  = 64 // of metadata
)

// errInvalidReported is the report of a service whose policy returned something that is no decision.
var errInvalidReported = errors.New("the policy returned no valid decision")

// answer is an answer whose common members are valid. Its reads are strict: see read.
type answer struct {
	version string
	root    jsonstream.Value
	read    map[string]bool
	err     error
}

// ask sends a question and returns the answer, from memory where the same question about the same
// proposal was answered. read reads the members of the answer and returns the decision for the row.
// The deadline is one for everything.
func ask[T any](ctx context.Context, s *service, q *question, read func(*answer) (T, string, stopgate.Code)) (value T, record stopgate.ExternalAnswer, err error) {
	text, id, sum := s.encode(q)
	if known, ok := s.f.known.answer(sum); ok {
		if value, ok := known.(T); ok {
			return value, stopgate.ExternalAnswer{}, nil
		}
	}
	began := s.f.o.Now()
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	record = stopgate.ExternalAnswer{Policy: s.table.Name, Hook: q.ask, Input: hex.EncodeToString(sum[:])}
	body, err := s.post(ctx, text)
	if err == nil {
		var a *answer
		if a, err = parse(body, id); a != nil {
			record.Version = a.version
		}
		if err == nil {
			value, record.Answer, record.Code = read(a)
			err = a.finish()
		}
	}
	if err == nil && ctx.Err() != nil {
		err = errTimeout
	}
	record.Time = s.f.o.Now().UTC()
	record.Micros = record.Time.Sub(began).Microseconds()
	if err != nil {
		f := failed(err)
		record.Answer, record.Code, record.Fault = "", f.code, f.word
		err = f
		if s.f.o.Failed != nil {
			s.f.o.Failed(s.table.Name, q.ask, f.err)
		}
		var none T
		value = none
	} else if q.proposal != "" {
		s.f.known.put(sum, value)
	}
	if q.proposal != "" {
		s.f.known.add(s.table.Name, q.proposal, record)
	}
	if s.f.o.Answered != nil {
		s.f.o.Answered(record)
	}
	return value, record, err
}

// parse reads the common members of an answer. The answer is nil if its version is not known.
func parse(body []byte, id string) (*answer, error) {
	root, err := jsonstream.Parse(body, jsonstream.Options{})
	if err != nil || root.Kind() != jsonstream.Object {
		return nil, errForm
	}
	a := &answer{root: root, read: map[string]bool{}}
	if n, _ := root.Get("protocol"); string(n.Raw()) != "1" {
		return nil, errVersion
	}
	a.read["protocol"] = true
	a.version = a.sentence("version", maxVersion)
	if a.version == "" {
		return nil, fmt.Errorf("%w: version is missing", errForm)
	}
	if a.sentence("id", maxVersion) != id {
		return a, errOther
	}
	if e, ok := root.Get("error"); ok {
		return a, reported(e)
	}
	return a, a.err
}

// reported returns the error that a service reports about itself.
func reported(e jsonstream.Value) error {
	code, _ := e.Get("code")
	detail, _ := e.Get("detail")
	err := errReported
	if code.Text() == string(stopgate.CodeInvalidPolicyResult) {
		err = fmt.Errorf("%w: %w", errReported, errInvalidReported)
	}
	text := detail.Text()
	return fmt.Errorf("%w: %s", err, text[:min(len(text), maxSentence)])
}

// finish returns the first mistake of the answer, an unknown member included.
func (a *answer) finish() error {
	for key := range a.root.Members() {
		if name := key.Text(); !a.read[name] {
			a.fail("unknown member")
		}
	}
	return a.err
}

func (a *answer) fail(what string) {
	if a.err == nil {
		a.err = fmt.Errorf("%w: %s", errForm, what)
	}
}

// get returns a member of a kind; it is not valid if there is none.
func (a *answer) get(name string, kinds ...jsonstream.Kind) jsonstream.Value {
	a.read[name] = true
	v, ok := a.root.Get(name)
	if ok && !slices.Contains(kinds, v.Kind()) {
		a.fail("type of " + name)
		return jsonstream.Value{}
	}
	return v
}

// sentence reads a text that people, models and rows may see.
func (a *answer) sentence(name string, most int) string {
	v := a.get(name, jsonstream.String)
	if !v.IsValid() {
		return ""
	}
	text := v.Text()
	if !presentable(text, most) {
		a.fail("text of " + name)
		return ""
	}
	return text
}

// presentable reports whether a text is short and has no characters that terminals act on or that
// are not seen.
func presentable(text string, most int) bool {
	if len(text) > most || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// decision reads the member "decision".
func (a *answer) decision(words ...string) string {
	word := a.get("decision", jsonstream.String).Text()
	if !slices.Contains(words, word) {
		a.fail("decision")
		return ""
	}
	return word
}

// code reads the member "reason", a code. It is valid, unless optional and missing.
func (a *answer) code(optional bool) stopgate.Code {
	v := a.get("reason", jsonstream.String)
	if !v.IsValid() && optional {
		return ""
	}
	code := stopgate.Code(v.Text())
	if !code.Valid() {
		a.fail("reason")
		return ""
	}
	return code
}

// metadata reads texts by name for records and events.
func (a *answer) metadata() map[string]string {
	v := a.get("metadata", jsonstream.Object)
	if !v.IsValid() {
		return nil
	}
	all := map[string]string{}
	for key, member := range v.Members() {
		if member.Kind() != jsonstream.String || !presentable(key.Text(), maxVersion) || !presentable(member.Text(), maxSentence) || len(all) >= maxMembers {
			a.fail("metadata")
			return nil
		}
		all[key.Text()] = member.Text()
	}
	return all
}

// texts reads an array of texts.
func (a *answer) texts(name string) (list []string) {
	v := a.get(name, jsonstream.Array)
	if !v.IsValid() {
		return nil
	}
	for e := range v.Elements() {
		if e.Kind() != jsonstream.String || !presentable(e.Text(), maxSentence) || len(list) >= maxMembers {
			a.fail(name)
			return nil
		}
		list = append(list, e.Text())
	}
	return list
}
