package mem

import (
	"bytes"
	"container/list"
	"context"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
)

var _ flow.Store = (*Texts)(nil)

// MaxTexts limits the segments of all conversations, and maxTextLog those of one, in bytes.
const (
	MaxTexts   = 256 << 20
	maxTextLog = 64 << 20
)

// Texts keeps the texts of conversations. When there are too many, it drops those of the
// conversation that was changed longest ago, and has that they are lost. The zero value is ready for
// use.
type Texts struct {
	mu    sync.Mutex
	all   map[flow.Conversation]*textLog
	order list.List // of *textLog with segments, the one changed last at the end
	size  int64
	kept  keptTexts
}

type textLog struct {
	flow.Log
	size    int64
	element *list.Element // nil without segments
}

// LoadTexts implements [flow.Store].
func (s *Texts) LoadTexts(ctx context.Context, c flow.Conversation, after uint64) (flow.Log, error) {
	if err := ctx.Err(); err != nil {
		return flow.Log{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.all[c]
	if log == nil {
		return flow.Log{}, nil
	}
	out := log.Log
	out.Key = bytes.Clone(out.Key)
	out.Segments = slices.Clone(out.Segments[min(after, uint64(len(out.Segments))):])
	return out, nil
}

// AppendTexts implements [flow.Store].
func (s *Texts) AppendTexts(ctx context.Context, c flow.Conversation, change flow.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.all[c]
	marks := change.Lost && len(change.Segments) == 0 && !change.Replace
	switch {
	case change.Replace, marks:
	case log == nil && change.After != 0, log != nil && (!bytes.Equal(log.Key, change.Key) || log.Position != change.After):
		return flow.ErrMoved
	}
	var added int64
	for _, segment := range change.Segments {
		added += int64(len(segment))
	}
	if added > maxTextLog || log != nil && !change.Replace && log.size+added > maxTextLog {
		return flow.ErrFull
	}
	if log == nil || change.Replace {
		if log != nil {
			s.drop(log)
		}
		log = &textLog{Log: flow.Log{Key: bytes.Clone(change.Key), Meaning: change.Meaning}}
		if s.all == nil {
			s.all = map[flow.Conversation]*textLog{}
		}
		s.all[c] = log
	}
	for _, segment := range change.Segments {
		log.Segments = append(log.Segments, bytes.Clone(segment))
	}
	s.kept.add(kept.LogID(change.Key), log.Position+1, change.Texts)
	for _, text := range change.Texts {
		log.Kept += int64(len(text))
	}
	log.Position += uint64(len(change.Segments))
	log.Lost = log.Lost || change.Lost
	log.size += added
	s.size += added
	switch {
	case log.element != nil:
		s.order.MoveToBack(log.element)
	case added > 0:
		log.element = s.order.PushBack(log)
	}
	for s.size > MaxTexts && s.order.Len() > 1 {
		s.drop(s.order.Front().Value.(*textLog))
	}
	return nil
}

// KeptTexts implements [flow.Store].
func (s *Texts) KeptTexts(ctx context.Context, log string) ([]flow.KeptText, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept.logs[log]), nil
}

// keptTexts are the texts themselves that a policy keeps. When there are too many, those of the oldest
// log are dropped.
type keptTexts struct {
	logs  map[string][]flow.KeptText
	order []string // of logs
	size  int64
}

func (k *keptTexts) add(log string, first uint64, texts [][]byte) {
	for i, text := range texts {
		if len(text) == 0 {
			continue
		}
		if k.logs == nil {
			k.logs = map[string][]flow.KeptText{}
		}
		if k.logs[log] == nil {
			k.order = append(k.order, log)
		}
		k.logs[log] = append(k.logs[log], flow.KeptText{Number: first + uint64(i), Text: bytes.Clone(text)})
		k.size += int64(len(text))
	}
	for k.size > MaxTexts && len(k.order) > 1 {
		for _, t := range k.logs[k.order[0]] {
			k.size -= int64(len(t.Text))
		}
		delete(k.logs, k.order[0])
		k.order = k.order[1:]
	}
}

// drop removes the segments of a log.
func (s *Texts) drop(log *textLog) {
	if log.element != nil {
		s.order.Remove(log.element)
	}
	s.size -= log.size
	log.element, log.Segments, log.size, log.Lost = nil, nil, 0, true
}
