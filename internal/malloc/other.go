//go:build !(linux && !android && (amd64 || arm64))

package malloc

// Limit does nothing.
func Limit() {}

// Look can tell nothing.
func Look() (Use, bool) { return Use{}, false }

// Trim does nothing.
func Trim() {}
