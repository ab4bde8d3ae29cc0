package downstream

import (
	"strings"
	"sync"
)

// Changed are the lists of one server that the client was notified about and has not requested
// since. The zero Changed is empty. It is safe for concurrent use.
type Changed struct {
	mu    sync.Mutex
	lists map[string]bool
}

// maxLists limits the number of list names that are remembered.
const maxLists = 16

// ListOf returns the list that a notification reports as changed, "" for other notifications.
func ListOf(method string) string {
	if list, ok := strings.CutSuffix(method, "/list_changed"); ok {
		return strings.TrimPrefix(list, "notifications/")
	}
	return ""
}

// Notify records that the client is notified of a changed list. It returns false if the client
// already was: repeated notifications are dropped.
func (c *Changed) Notify(list string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.lists[list]
	if c.lists == nil {
		c.lists = map[string]bool{}
	}
	if len(c.lists) < maxLists {
		c.lists[list] = true
	}
	return !known
}

// Requested records that the client requests a list, by its name or the method of the request:
// later changes are reported again.
func (c *Changed) Requested(method string) {
	list, _, _ := strings.Cut(method, "/")
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.lists, list)
}

// Clear reports all changes again, because the client may have missed notifications.
func (c *Changed) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.lists)
}
