// Package hosts has the commands that put the hook into the settings of coding agents and prove
// that it denies there: install, uninstall, doctor.
package hosts
