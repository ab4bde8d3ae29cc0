// Package agents runs real coding agents, as their users install them, behind the
// gateway and with stopgate's hooks in their settings. The model is a script: it
// makes a call that the policy allows, one that it denies, and continues.
//
// These tests take minutes and 2.2 GB of packages: `make agents` in the folder
// above installs the agents and runs them; `make test` does not.
package agents
