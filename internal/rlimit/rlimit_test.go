package rlimit

import "testing"

func TestAddressSpace(t *testing.T) {
	limit, used, ok := AddressSpace()
	if ok && (used <= 0 || limit < used) {
		t.Errorf("%d bytes of %d are taken", used, limit)
	}
}
