// Package tui is the terminal interface of the agent: it shows events and reads answers.
//
// Finished output is in the scrollback of the terminal. Output in progress - a sentence of the
// model, calls that are being written, a question - is redrawn below it. On a terminal without
// cursor control, or in a pipe, every line is written once.
//
// Guarantees (H14, H15): text of a model, a tool or a file is printed so that every character is
// visible and cannot move or hide other text; long values are cut in the middle with their size,
// never only at the end; only the keys y, w and a mean yes, an empty line means nothing, and input
// typed before a question was shown is discarded.
package tui
