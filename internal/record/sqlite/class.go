package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/database"
)

// class has the members by which people choose rows and that repeat from row to row. A row has the number of its class, so that
// the rows of a class are found in one index, and a filter is compared with classes instead of rows.
type class struct {
	Kind      stopgate.RecordKind   `json:"kind"`
	Event     stopgate.AuditEvent   `json:"event,omitempty"`
	Surface   stopgate.Surface      `json:"surface,omitempty"`
	Agent     stopgate.AgentName    `json:"agent,omitempty"`
	Principal stopgate.Principal    `json:"principal,omitempty"`
	Tool      stopgate.ToolName     `json:"tool,omitempty"`
	Status    stopgate.RecordStatus `json:"status,omitempty"`
	Code      stopgate.Code         `json:"code,omitempty"`
	Mode      string                `json:"mode,omitempty"`
	// RuleID is the id of the rule, noRule without one, and "" in a class of an earlier version, whose rows have any rule.
	RuleID stopgate.RuleID `json:"rule_id,omitempty"`
}

// noRule is the RuleID of rows whose rule has no id, or that have none.
const noRule = stopgate.RuleID("-")

func classOf(r *stopgate.Record) class {
	c := class{
		Kind: r.Kind, Event: r.Event, Surface: r.Surface, Agent: r.Agent, Principal: r.Principal, Tool: r.Tool, Status: r.Status, Code: r.Code, RuleID: noRule,
	}
	if r.Mode != nil {
		c.Mode = r.Mode.String()
	}
	if r.Rule != nil && r.Rule.ID != "" {
		c.RuleID = r.Rule.ID
	}
	return c
}

// record returns a row with the members of the class, without the rule.
func (c *class) record() (*stopgate.Record, error) {
	r := &stopgate.Record{
		Kind: c.Kind, Event: c.Event, Surface: c.Surface, Agent: c.Agent, Principal: c.Principal, Tool: c.Tool, Status: c.Status, Code: c.Code,
	}
	if c.Mode != "" {
		mode, err := stopgate.ParseMode(c.Mode)
		if err != nil {
			return nil, err
		}
		r.Mode = &mode
	}
	return r, nil
}

// maxClasses bounds the classes of a file. Names of tools come from models: rows beyond have no class, and are found by reading them.
const maxClasses = 10_000

// unclassed is the number in rows without a class.
const unclassed = int64(0)

const (
	selectClass  = "SELECT id FROM audit_classes WHERE members = ?"
	countClasses = "SELECT count(*) FROM audit_classes"
	insertClass  = "INSERT INTO audit_classes(members) VALUES(?)"
)

// classes are the numbers of classes that a recorder has used. Only transactions use them, one at a time.
type classes struct {
	epoch int64
	ids   map[class]int64
	count int // in the file, at least; 0 before it is known
}

// at empties the classes if some were removed from the file.
func (s *classes) at(epoch int64) {
	if s.ids == nil || s.epoch != epoch {
		*s = classes{epoch: epoch, ids: map[class]int64{}}
	}
}

// number returns the number of a class, and adds the class to the file. A number that was added is in the list of the transaction
// until it is committed.
func (t *chainEnd) number(tx *database.Tx, s *classes, c class) (id int64, err error) {
	if id, ok := s.ids[c]; ok {
		return id, nil
	}
	if id, ok := t.added[c]; ok {
		return id, nil
	}
	members, err := json.Marshal(c)
	if err != nil {
		return 0, fmt.Errorf("class of an audit row: %w", err)
	}
	found, err := tx.Get([]any{&id}, selectClass, string(members))
	if err != nil {
		return 0, err
	}
	if !found {
		if s.count == 0 {
			if _, err := tx.Get([]any{&s.count}, countClasses); err != nil {
				return 0, err
			}
		}
		if s.count+len(t.added) >= maxClasses {
			return unclassed, nil
		}
		done, err := tx.Exec(insertClass, string(members))
		if err != nil {
			return 0, err
		}
		if id, err = done.LastInsertId(); err != nil {
			return 0, err
		}
	}
	if t.added == nil {
		t.added = map[class]int64{}
	}
	t.added[c] = id
	return id, nil
}

// ownerOf returns the number of a session in the column owner, nil without a session. Sessions may share a number.
func ownerOf(session string) any {
	if session == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(readable(session)))     // as its line has it
	return int64(binary.BigEndian.Uint64(sum[:]) >> 17) // six bytes of the file
}
