package account

import (
	"bytes"
	"os"
	"strconv"
)

// Available returns how many bytes of memory the system can give to this process
// without swapping, 0 if it does not say. It does not exceed what is left of the
// control group's limit.
func Available() int64 {
	available := int64(0)
	text, _ := os.ReadFile("/proc/meminfo") // without it nothing is found
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) >= 2 && string(fields[0]) == "MemAvailable:" {
			available = number(fields[1]) << 10
		}
	}
	// Versions 2 and 1 of control groups, as a container sees its own.
	for _, files := range [][2]string{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		limit, err := os.ReadFile(files[0])
		if err != nil {
			continue
		}
		used, _ := os.ReadFile(files[1])
		if most := number(bytes.TrimSpace(limit)); most > 0 { // else it is "max"
			available = min(available, max(most-number(bytes.TrimSpace(used)), 1))
		}
	}
	return available
}

// number returns a number in decimal digits, 0 if it is none.
func number(text []byte) int64 {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
