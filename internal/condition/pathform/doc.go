// Package pathform reads paths as tools do: whether a path is plainly written, its canonical form, and
// every plausible reading of one that is not (K56), with directories and links as inputs. The
// conditions of package pathname, analysis and explanations share the readings.
package pathform
