// Package suite runs the tests of a policy: cases in TOML files with the expected decisions about a
// call, or about several calls of one session.
//
//	s, mistakes, err := suite.Load("stopgate.test.toml", suite.Options{})
//	report := s.Run(ctx, nil)
//	for _, c := range report.Cases {
//		fmt.Println(c.Name, c.Passed())
//	}
//	fmt.Println(suite.Cover(report).Percent())
//
// A case goes through a gate of its own, up to the point where an approval would be requested
// (K30); docs/reference/cli.md describes the files.
package suite
