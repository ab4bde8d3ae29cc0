package external

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/recent"
)

// memory has the answers about proposals: those for their rows, and the valid ones by the hash of
// their question. A question has the id of its proposal, so that no answer is used for another call.
// The gate asks some questions twice, the second time in a step of the store, and no service is
// waited for there unless the state of the session has changed. Failures are not remembered.
type memory struct {
	answers recent.Map[[sha256.Size]byte, any]

	mu     sync.Mutex
	states [64]state // the newest answers that are states of sessions, which are larger
	next   int
	rows   recent.Map[proposal, []stopgate.ExternalAnswer]
}

// state is the answer to a question about a result.
type state struct {
	question [sha256.Size]byte
	text     string
}

type proposal struct {
	policy string
	id     stopgate.ProposalID
}

// maxRows bounds the answers of one policy about one proposal.
const maxRows = 16

// answer returns the answer to a question.
func (m *memory) answer(sum [sha256.Size]byte) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.states {
		if m.states[i].question == sum {
			return m.states[i].text, true
		}
	}
	return m.answers.Get(sum)
}

// put keeps a valid answer.
func (m *memory) put(sum [sha256.Size]byte, value any) {
	text, isState := value.(string)
	if !isState {
		m.answers.Put(sum, value)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[m.next] = state{sum, text}
	m.next = (m.next + 1) % len(m.states)
}

func (m *memory) add(policy string, id stopgate.ProposalID, r stopgate.ExternalAnswer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := proposal{policy, id}
	list, _ := m.rows.Get(key)
	if len(list) >= maxRows {
		list = list[1:]
	}
	m.rows.Put(key, append(slices.Clip(list), r))
}

// of returns the answers of a policy about a proposal.
func (m *memory) of(policy string, id stopgate.ProposalID) []stopgate.ExternalAnswer {
	m.mu.Lock()
	defer m.mu.Unlock()
	list, _ := m.rows.Get(proposal{policy, id})
	return slices.Clone(list)
}
