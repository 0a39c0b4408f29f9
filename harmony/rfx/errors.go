package rfx

import "fmt"

// ForeignError says that a file is not a compiled program.
type ForeignError struct{ Found []byte }

// Error says how the file starts.
func (e *ForeignError) Error() string {
	if len(e.Found) == 0 {
		return "it is empty, and no compiled program"
	}
	return fmt.Sprintf("it is no compiled program: it starts with %q", e.Found)
}

// VersionError says that a file is of a format that this version of redfox does
// not read.
type VersionError struct{ Found, Known uint32 }

// Error names both formats.
func (e *VersionError) Error() string {
	return fmt.Sprintf("it is a compiled program of format %d, and this redfox reads format %d",
		e.Found, e.Known)
}

// DamageError says that a file is cut short or altered.
type DamageError struct {
	Section string // "" for what precedes the sections
	Reason  string
}

// Error says which part is damaged and how that shows.
func (e *DamageError) Error() string {
	if e.Section == "" {
		return "its head " + e.Reason
	}
	return fmt.Sprintf("its section %s %s", e.Section, e.Reason)
}
