package account

import (
	"bytes"
	"os"
	"strconv"
)

// Available returns how many bytes of memory the system can give to this
// process without swapping, 0 if it does not say. It does not exceed what is
// left of the control group's limit.
func Available() int64 {
	text, _ := os.ReadFile("/proc/meminfo") // without it nothing is found
	available := field(text, "MemAvailable:") << 10
	// Versions 2 and 1 of control groups, as a container sees its own.
	for _, group := range []struct{ limit, usage, stat, cached string }{
		{"memory.max", "memory.current", "memory.stat", "inactive_file"},
		{"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes",
			"memory/memory.stat", "total_inactive_file"},
	} {
		read := func(name string) []byte {
			text, _ := os.ReadFile("/sys/fs/cgroup/" + name) // the group may not be there
			return bytes.TrimSpace(text)
		}
		most := number(read(group.limit))
		if most <= 0 { // there is none, or it is "max"
			continue
		}
		// The kernel takes the pages of files back that nobody has used lately.
		used := number(read(group.usage)) - field(read(group.stat), group.cached)
		available = min(available, max(most-used, 1))
	}
	return available
}

// field returns the number behind a name at the beginning of a line, 0 if there
// is none.
func field(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if fields := bytes.Fields(line); len(fields) >= 2 && string(fields[0]) == name {
			return number(fields[1])
		}
	}
	return 0
}

// number returns a number in decimal digits, 0 if it is none.
func number(text []byte) int64 {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
