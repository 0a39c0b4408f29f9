package rfdb

import "fmt"

// ForeignError says that a file is not a database.
type ForeignError struct{ Found []byte }

// Error says how the file starts.
func (e *ForeignError) Error() string {
	if len(e.Found) == 0 {
		return "it is empty, and no database"
	}
	return fmt.Sprintf("it is no database of redfox: it starts with %q", e.Found)
}

// VersionError says that a file is of a format that this version of redfox does
// not read.
type VersionError struct{ Found, Known uint32 }

// Error names both formats.
func (e *VersionError) Error() string {
	return fmt.Sprintf("it is a database of format %d, and this redfox reads format %d", e.Found,
		e.Known)
}

// DamageError says which part of a file is not what was written.
type DamageError struct {
	Part   string // such as "column quantity of lineitem:quantity"
	Offset int64  // in the file, of the damaged bytes
	Reason string
}

// Error names the part and the place.
func (e *DamageError) Error() string {
	return fmt.Sprintf("damage at byte %d of the file, in %s: %s", e.Offset, e.Part, e.Reason)
}

// Advice says what to do about damage.
func (e *DamageError) Advice() string {
	return "take a copy of the file from before the damage"
}

// LockedError says that another process writes to the database.
type LockedError struct{}

// Error says who holds the lock.
func (e *LockedError) Error() string { return "another process is writing to it" }

// Advice says what to do until the other writer is done.
func (e *LockedError) Advice() string {
	return "wait until that process has ended; reading needs no lock"
}
