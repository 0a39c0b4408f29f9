package measure

import (
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
)

// Machine describes the machine that ran a suite.
type Machine struct {
	CPU   string `json:"cpu,omitempty"` // the model, if the system tells it
	Cores int    `json:"cores"`         // that the process may use
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Go    string `json:"go"`
}

// ThisMachine describes the machine.
func ThisMachine() Machine {
	return Machine{
		CPU:   procValue("/proc/cpuinfo", "model name"),
		Cores: goruntime.NumCPU(),
		OS:    goruntime.GOOS,
		Arch:  goruntime.GOARCH,
		Go:    goruntime.Version(),
	}
}

// PeakMemory returns the peak resident memory of the process in bytes, 0 if the
// system does not account for it.
func PeakMemory() int64 {
	number, _, _ := strings.Cut(procValue("/proc/self/status", "VmHWM"), " ")
	kilobytes, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// procValue returns the first value of a name in a file of lines "name: value",
// or "".
func procValue(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
