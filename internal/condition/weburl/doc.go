// Package weburl parses URLs strictly, where every parser agrees ([Parse]), and loosely, in every
// way in which some parser could read a text ([Loose]).
package weburl
