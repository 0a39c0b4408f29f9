//go:build !unix

package measure

import "time"

// ProcessorTime returns 0, which stands for unknown.
func ProcessorTime() time.Duration { return 0 }
