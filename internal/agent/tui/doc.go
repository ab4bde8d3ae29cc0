// Package tui is the terminal interface of the agent: it shows events and reads answers.
//
// Finished output goes to the scrollback of the terminal. Output in progress - a sentence of the
// model, calls that are being written, a question - is redrawn below it, by bubbletea. On a terminal
// without cursor control every line is written once, and answers are lines.
//
// Guarantees (H14, H15): text of a model, a tool or a file is printed so that every character is
// visible and cannot move or hide other text; long values are cut in the middle with their size,
// never only at the end; only the keys y, w and a mean yes, an empty line answers nothing, and keys
// typed before a question could be read are discarded.
package tui
