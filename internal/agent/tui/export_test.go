package tui

import tea "charm.land/bubbletea/v2"

// Line is a line that was typed at a terminal without cursor control.
type Line = typedLine

// HungUp is the end of the terminal.
type HungUp = hungUp

// Send sends a message to the event loop. It returns when the loop has taken it, and has handled
// every earlier one.
func (s *Session) Send(msg tea.Msg) { s.program.Send(msg) }

// Received records that keys were read; those that are sent until the next call are of one read.
func (s *Session) Received() { s.received() }
