//go:build !unix

package measure

import "time"

// ProcessorTime returns 0: the system's account of it is not looked at.
func ProcessorTime() time.Duration { return 0 }
