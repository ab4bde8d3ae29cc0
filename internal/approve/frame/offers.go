package frame

import (
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/visible"
)

// Offer is a grant that a person can choose, for display. All its texts are safe to print.
type Offer struct {
	Name, Title, Sentence string
	Example               string // a value that would not be asked about again, "" for the call itself
}

// Offers describes the grants for a question, the most useful first.
func Offers(e approve.Entry) (list []Offer) {
	for _, x := range e.Extensions() {
		list = append(list, Offer{
			Name: x.Name, Title: visible.Elide(visible.Text(x.Title), maxName),
			Sentence: visible.Elide(visible.Text(x.Sentence), maxTarget), Example: visible.Elide(visible.Text(x.Example), maxContent),
		})
	}
	return list
}
