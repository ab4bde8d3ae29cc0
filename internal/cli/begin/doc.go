// Package begin has the commands start and stop: start sets everything up for a project, after one question, and
// stop undoes all of it.
//
// A [plan] is the changes that start would make: files with their texts before and after. It is made without changing
// anything, and made again when the person leaves a part out. The screen shows the plan, and example calls that are
// judged by the very policy that would be in force. Before the changes the [journal] says how to undo them. A file that
// others changed meanwhile is not written; one that they changed afterwards only loses what start put there.
package begin
