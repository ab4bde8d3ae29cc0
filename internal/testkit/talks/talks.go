// Package talks is the behavioural suite of conversation stores.
package talks

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agent/conversation"
)

// Run checks a store that open opens, empty.
func Run(t *testing.T, open func(t *testing.T) conversation.Store) {
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 3, 4, s, 0, time.UTC) }
	t.Run("entries", func(t *testing.T) {
		s, ctx := open(t), context.Background()
		if _, err := s.ConversationEntries(ctx, "a"); !errors.Is(err, conversation.ErrUnknown) {
			t.Error(err)
		}
		if err := s.AppendEntries(ctx, "none"); err != nil {
			t.Error(err)
		}
		list := []conversation.Entry{
			{Kind: conversation.Begun, At: at(1), Dir: "/w"},
			{Kind: conversation.User, At: at(2), Text: strings.Repeat("ü", 100) + "\x00\u202e"},
			{Kind: conversation.Reply, At: at(3), API: "anthropic", Model: "m", Cut: true, Parts: []conversation.Part{
				{Kind: conversation.Text, Text: "t"}, {Kind: conversation.Call, ID: "i", Tool: "x", Args: `{"a":"<>&"}`},
				{Kind: conversation.Opaque, API: "anthropic", Raw: `{"b": 1}`},
			}},
			{Kind: conversation.Started, At: at(4), Call: 1, Args: "{}"},
			{Kind: conversation.Result, At: at(5), Call: 1, Text: "r", Failed: true},
		}
		for _, cut := range []int{0, 1, 3} {
			next := map[int]int{0: 1, 1: 3, 3: 5}[cut]
			if err := s.AppendEntries(ctx, "a", list[cut:next]...); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.ConversationEntries(ctx, "a")
		if err != nil || !reflect.DeepEqual(got, list) {
			t.Errorf("%v\n%+v\n%+v", err, got, list)
		}
		infos, err := s.Conversations(ctx, "", 0)
		want := conversation.Info{ID: "a", Dir: "/w", Title: strings.Repeat("ü", 80), Begun: at(1), Changed: at(5), Entries: 5}
		if err != nil || len(infos) != 1 || infos[0] != want {
			t.Errorf("%v %+v", err, infos)
		}
	})
	t.Run("lists", func(t *testing.T) {
		s, ctx := open(t), context.Background()
		for i, id := range []string{"a", "b", "c"} {
			dir := []string{"/w", "/v", "/w"}[i]
			if err := s.AppendEntries(ctx, id, conversation.Entry{Kind: conversation.Begun, Dir: dir, At: at(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.AppendEntries(ctx, "a", conversation.Entry{Kind: conversation.User, Text: "x", At: at(9)}); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			dir   string
			limit int
			want  string
		}{{"", 0, "acb"}, {"/w", 0, "ac"}, {"/w", 1, "a"}, {"/x", 0, ""}} {
			infos, err := s.Conversations(ctx, test.dir, test.limit)
			got := ""
			for _, i := range infos {
				got += i.ID
			}
			if err != nil || got != test.want {
				t.Errorf("%q %d: %v %q, want %q", test.dir, test.limit, err, got, test.want)
			}
		}
	})
}
