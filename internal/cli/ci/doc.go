// Package ci writes findings and test results in formats for continuous integration: workflow
// commands of GitHub, JUnit XML, and SARIF 2.1.0.
//
//	ci.GitHub(os.Stdout, []ci.Annotation{{Level: "error", File: "stopgate.toml", Line: 4, Message: "..."}})
//	ci.JUnit(os.Stdout, suites)
//	ci.SARIF(os.Stdout, diagnostics, ci.Tool{Version: "0.1.0"})
//
// Untrusted text is escaped in every format.
package ci
