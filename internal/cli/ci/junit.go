package ci

import (
	"encoding/xml"
	"io"
	"strings"
)

// Suite is a group of test cases.
type Suite struct {
	Name  string
	Cases []Case
}

// Case is one test with its result.
type Case struct {
	Name, Class string
	File        string
	Line        int
	// Failure is the failure in one line, "" if the case passed. Detail has further lines.
	Failure, Detail string
	Kind            string // of the failure
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes suites as the XML that most systems read.
func JUnit(w io.Writer, suites []Suite) error {
	var all junitSuites
	for _, s := range suites {
		out := junitSuite{Name: legal(s.Name), Tests: len(s.Cases)}
		for _, c := range s.Cases {
			x := junitCase{Name: legal(c.Name), Class: legal(c.Class), File: legal(c.File), Line: c.Line}
			if c.Failure != "" {
				out.Failures++
				x.Failure = &junitFailure{Message: legal(c.Failure), Type: legal(c.Kind), Text: legal(c.Detail)}
			}
			out.Cases = append(out.Cases, x)
		}
		all.Tests += out.Tests
		all.Failures += out.Failures
		all.Suites = append(all.Suites, out)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

// legal replaces characters that XML 1.0 does not allow, even escaped.
func legal(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', 0x20 <= r && r <= 0xD7FF, 0xE000 <= r && r <= 0xFFFC, 0x10000 <= r:
			return r
		}
		return '\uFFFC'
	}, strings.ToValidUTF8(s, "\uFFFC"))
}
