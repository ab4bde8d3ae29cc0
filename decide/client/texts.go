package client

import (
	"context"
	"net/http"

	"github.com/stopgate/stopgate"
)

// Text is a text of a conversation: a message of a person ("user") or an operator ("system"), or
// the result of a call that the gate did not decide ("tool").
type Text struct {
	Source string            `json:"source"`
	Text   string            `json:"text"`
	ID     string            `json:"id,omitempty"` // of a message
	Tool   stopgate.ToolName `json:"tool,omitempty"`
	Call   stopgate.CallID   `json:"call_id,omitempty"`
}

// Texts are additions to the texts of a conversation.
type Texts struct {
	// Known are the sources that the program reports completely: "user", "system" and "results".
	Known []string `json:"known,omitempty"`
	// Whole reports that List begins with the first text of the conversation.
	Whole bool   `json:"whole,omitempty"`
	List  []Text `json:"texts"`
	// Conversation is the part of the session, "" the session.
	Conversation string `json:"conversation,omitempty"`
}

// Approved reports that a person gave an approval with this name, which session policies require.
// Scope texts.
func (c *Client) Approved(ctx context.Context, of Owner, name string) error {
	r := of.request(http.MethodPost, "facts")
	r.body = map[string]string{"approved": name}
	return c.do(ctx, r, nil)
}

// Spoke reports that the person sent a message: the count of denials begins again. Scope texts.
func (c *Client) Spoke(ctx context.Context, of Owner) error {
	r := of.request(http.MethodPost, "facts")
	r.body = map[string]bool{"spoke": true}
	return c.do(ctx, r, nil)
}

// AddTexts adds texts, in which conditions on origins find the values of later calls. Results of
// calls that the gate decided are texts by [Client.Observe]. read is false if no policy needs texts.
// Scope texts.
func (c *Client) AddTexts(ctx context.Context, of Owner, add Texts) (read bool, err error) {
	if add.List == nil {
		add.List = []Text{}
	}
	r := of.request(http.MethodPost, "texts")
	r.body = add
	var out struct {
		Read bool `json:"read"`
	}
	err = c.do(ctx, r, &out)
	return out.Read, err
}
