// Package flow has the nouns of information flow: the texts of a conversation, who wrote them, and
// where the value of an argument comes from.
//
// A text is a piece of a conversation with one author: a message of a person, the instructions of
// an operator, a leaf of the result of a call. Its [Source] is that author. A value occurs in a text
// if its normalised form is a part of it; the texts in which it occurs are its origin. A value
// without one was made by the model. Texts of the model itself are no texts in this sense.
//
// The gate keeps an [Index] for each session, which a policy makes and fills ([Reader]): it has
// keyed hashes of words and positions, and no text. A call is evaluated on a [View]: the texts that
// the session had when the call began. A nil View knows no texts: conditions that permit do not
// hold on it, those that restrict do.
package flow
