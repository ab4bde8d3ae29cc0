package pathname

import "sync"

// memo remembers answers about sets of paths that automata take long to give: agents search the same
// directories and write the same wildcards again and again. An answer depends on the question alone.
type memo struct {
	mu      sync.RWMutex
	answers map[question]bool
}

// question is about the paths that wildcards match, or about those below a directory.
type question struct {
	path   string
	names  string // wildcards of the names below a directory, one in each line
	below  bool
	glob   bool // path is a pattern
	hidden bool // names may begin with a dot
}

// Limits of what is remembered. A full memo begins anew.
const (
	maxAnswers  = 128
	maxQuestion = 256 // bytes
)

// ask returns the answer to a question, by answer if it is not remembered.
func (m *memo) ask(q question, answer func() bool) bool {
	if len(q.path)+len(q.names) > maxQuestion {
		return answer()
	}
	m.mu.RLock()
	yes, ok := m.answers[q]
	m.mu.RUnlock()
	if ok {
		return yes
	}
	yes = answer()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers == nil || len(m.answers) == maxAnswers {
		m.answers = make(map[question]bool)
	}
	m.answers[q] = yes
	return yes
}

// about returns the question about the paths below a directory.
func about(dir string, glob bool, which Swept) question {
	q := question{path: dir, below: true, glob: glob, hidden: which.Hidden}
	for _, name := range which.Names {
		q.names += name + "\n"
	}
	return q
}
