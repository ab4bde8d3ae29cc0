package gate

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// ErrSnapshot is the error of a rejected snapshot (snapshot_rejected): altered, of another
// session or other session policies, or of a position that the session never had. The current
// state is unchanged (FM17).
var ErrSnapshot = errors.New("gate: snapshot_rejected")

// snapshotVersion is the version of the sealed text. Version 1: 2026-11.
const snapshotVersion = 1

// seal is the content of a snapshot: a position in the log of facts, which is not copied (S15).
type seal struct {
	Version   int                `json:"v"`
	Principal stopgate.Principal `json:"principal"`
	Session   stopgate.SessionID `json:"session"`
	Policies  string             `json:"policies"` // hash of [[session]]
	Number    uint64             `json:"number"`
	Position  uint64             `json:"position"`
	At        int64              `json:"at"`
}

// Snapshot seals the position that a session has reached, to come back to it with
// [Gate.Restore]. It needs [WithStore] and [WithSealKey].
func (g *Gate) Snapshot(ctx context.Context, o session.Owner) ([]byte, error) {
	if err := g.canSeal(); err != nil {
		return nil, err
	}
	s := seal{
		Version: snapshotVersion, Principal: o.Principal, Session: o.Session,
		Policies: g.current.Load().of(o.Session).sessionHash, At: g.now().UnixMilli(),
	}
	fact := session.Fact{At: s.At, Kind: session.Snapshot}
	r := update(ctx, g.sessions, o, fact.Keys(), func(st session.State) (Change, seal, error) {
		self, _ := st.Cell(session.Self)
		s := s
		s.Number, s.Position = self.Condition().Snapshots+1, st.Head
		return Change{Facts: []session.Fact{fact}}, s, nil
	})
	if err := r.Problem("snapshot"); err != nil {
		return nil, err
	}
	err := g.Note(ctx, stopgate.Record{
		Event: stopgate.AuditSnapshot, Session: o.Session, Principal: o.Principal, Cause: "position " + strconv.FormatUint(r.Value.Position, 10),
	})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r.Value)
	if err != nil {
		return nil, err
	}
	return g.seal.close(text), nil
}

func (g *Gate) canSeal() error {
	switch {
	case !g.sessions.exists():
		return ErrNoStore
	case g.seal == nil:
		return errors.New("gate: no key for snapshots: see WithSealKey")
	}
	return nil
}

// Rewind is an operator's permission to restore a session (H7).
type Rewind struct {
	// By names the operator for the record. It must not be empty.
	By string
}

// Restore takes a session back to a snapshot, without deleting facts: later facts that
// permit no longer count, and facts that restrict still do, so that a restore never allows
// a call that was denied before it. Grants are not restored, and the texts of the session stay as they
// are. The error is ErrSnapshot
// if the snapshot is not one of this session under these session policies.
func (g *Gate) Restore(ctx context.Context, o session.Owner, sealed []byte, operator Rewind) error {
	if err := g.canSeal(); err != nil {
		return err
	}
	s, err := g.seal.open(sealed)
	switch {
	case err != nil:
		return err
	case s.Version != snapshotVersion, s.Principal != o.Principal, s.Session != o.Session:
		return fmt.Errorf("%w: it belongs to another session", ErrSnapshot)
	case s.Policies != g.current.Load().of(o.Session).sessionHash:
		return fmt.Errorf("%w: the session policies have changed", ErrSnapshot)
	case operator.By == "":
		return fmt.Errorf("%w: restoring needs the name of an operator", ErrSnapshot)
	}
	fact := session.Fact{At: g.now().UnixMilli(), Kind: session.Restored, To: s.Position, By: operator.By}
	r := update(ctx, g.sessions, o, fact.Keys(), func(st session.State) (Change, struct{}, error) {
		self, _ := st.Cell(session.Self)
		if s.Position > st.Head || s.Number > self.Condition().Snapshots {
			return Change{}, struct{}{}, fmt.Errorf("%w: the session never had this position", ErrSnapshot)
		}
		return Change{Facts: []session.Fact{fact}}, struct{}{}, nil
	})
	if err := r.Problem("restore"); err != nil {
		return err
	}
	return g.Note(ctx, stopgate.Record{
		Event: stopgate.AuditRestored, Session: o.Session, Principal: o.Principal, Approval: &stopgate.Approval{By: operator.By},
		Cause: "position " + strconv.FormatUint(s.Position, 10),
	})
}

// sealKey is the secret that seals snapshots.
type sealKey []byte

// close seals a text: "BASE64.BASE64" of the text and its HMAC-SHA-256.
func (k sealKey) close(text []byte) []byte {
	enc := base64.RawURLEncoding
	out := enc.AppendEncode(nil, text)
	return enc.AppendEncode(append(out, '.'), k.mac(text))
}

func (k sealKey) mac(text []byte) []byte {
	m := hmac.New(sha256.New, k)
	m.Write([]byte("stopgate snapshot\x00"))
	m.Write(text)
	return m.Sum(nil)
}

// open returns the content of a sealed text.
func (k sealKey) open(sealed []byte) (s seal, err error) {
	body, tag, _ := bytes.Cut(sealed, []byte("."))
	enc := base64.RawURLEncoding.Strict()
	text, err1 := enc.DecodeString(string(body))
	mac, err2 := enc.DecodeString(string(tag))
	if err1 != nil || err2 != nil || !hmac.Equal(mac, k.mac(text)) {
		return s, fmt.Errorf("%w: invalid seal", ErrSnapshot)
	}
	if json.Unmarshal(text, &s) != nil {
		return s, fmt.Errorf("%w: invalid content", ErrSnapshot)
	}
	return s, nil
}
