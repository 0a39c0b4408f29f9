package account

import "testing"

// TestAvailable holds that there is memory for this process, and no more than
// the machine has.
func TestAvailable(t *testing.T) {
	if n := Available(); n <= 0 || n > machineMemory() {
		t.Errorf("%d of %d bytes are available", n, machineMemory())
	}
	const two = "MemFree: 1 kB\nMemAvailable:  7 kB\n"
	for text, want := range map[string]int64{two: 7, "MemAvailable:": 0, "": 0} {
		if got := field([]byte(text), "MemAvailable:"); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
