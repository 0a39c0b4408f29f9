package rfdb

import "fmt"

// ForeignError means that a file is not a database.
type ForeignError struct{ Found []byte }

// Error shows how the file starts.
func (e *ForeignError) Error() string {
	if len(e.Found) == 0 {
		return "it is empty, and no database"
	}
	return fmt.Sprintf("it is no database of redfox: it starts with %q", e.Found)
}

// VersionError means that a file has a format that this version of redfox
// cannot read.
type VersionError struct{ Found, Known uint32 }

// Error names both formats.
func (e *VersionError) Error() string {
	return fmt.Sprintf("it is a database of format %d, and this redfox reads format %d", e.Found,
		e.Known)
}

// DamageError means that a part of a file differs from what was written.
type DamageError struct {
	Part   string // such as "column quantity of lineitem:quantity"
	Offset int64  // in the file, of the damaged bytes
	Reason string
}

// Error names the part and the offset.
func (e *DamageError) Error() string {
	return fmt.Sprintf("damage at byte %d of the file, in %s: %s", e.Offset, e.Part, e.Reason)
}

// Advice returns what to do about damage.
func (e *DamageError) Advice() string {
	return "take a copy of the file from before the damage"
}

// LockedError means that another process is writing to the database.
type LockedError struct{}

// Error returns the message.
func (e *LockedError) Error() string { return "another process is writing to it" }

// Advice returns what to do until the other writer is done.
func (e *LockedError) Advice() string {
	return "wait until that process has ended; reading needs no lock"
}
