package condition

// Unknown is the set of reasons why the file that a value names is not known.
type Unknown uint8

// The zero Unknown means that every reading of the value is known.
const (
	UnknownWay       Unknown = 1 << iota // ".." after a directory that does not exist, or links that cannot be followed
	UnknownDirectory                     // the directory in which relative paths begin is unknown
	UnknownReading                       // there are more readings than the limit
	UnknownCommand                       // a command line has more commands than the limit
	TooLong                              // readings are missing because of its length: a restrictive condition holds
	UnknownOrigin                        // the texts of a source are not known
	DroppedOrigin                        // the session had more text than it keeps
	Known            Unknown = 0
)

// Public returns the reasons and the remedy, without the value.
func (u Unknown) Public() string {
	switch {
	case u&UnknownCommand != 0:
		return "The line has more commands than are looked at: split it into several calls."
	case u&UnknownDirectory != 0:
		return "It is not known in which directory this runs: write absolute paths."
	case u&UnknownWay != 0:
		return "It is not known where a path leads, because a directory before '..' does not exist yet or a link cannot be followed: make the directory in a call of its own, or write the path without '..'."
	}
	return "A path can be read in too many ways to know which file it names: write it out, without wildcards, escapes and braces."
}
