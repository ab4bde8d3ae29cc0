// Package pathname has the conditions on paths. A permissive one holds for a path that is plainly
// written, a restrictive one if it does for any reading of the path (K56): every effective
// combination of the transformations that tools apply ([Readings]).
//
// Paths are compared in canonical form, relative to the root if they are below it. The package does
// not access the file system: directories and links are inputs ([condition.Env]).
package pathname
