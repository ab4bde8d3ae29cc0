// Package tui shows the terminal agent to a person and takes his answers.
//
// What is over stands as lines in the terminal's own scrollback; what is under way - a
// sentence of the model, calls that are being written, a question - is redrawn below
// them. Without a terminal that can do that, or in a pipe, every line is written once.
//
// What it promises (H14, H15): what a model, a tool or a file wrote is printed
// so that every character shows, and moves or hides nothing beside it; a long value is
// cut in the middle with its size, never only at its end; no key but y, w and a means
// yes, an empty line means nothing, and what was typed before a question stood on the
// screen is thrown away.
package tui
