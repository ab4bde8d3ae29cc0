// Package site has the tests of the documentation site that make -C site test builds: its links,
// and its pages in a real browser.
package site
