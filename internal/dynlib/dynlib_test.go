package dynlib

import (
	"strings"
	"sync"
	"testing"
)

func TestText(t *testing.T) {
	bytes := []byte("grün\x00rest\x00")
	if got := Text(&bytes[0]); got != "grün" {
		t.Errorf("the text is %q", got)
	}
	if got := Text(&bytes[len(bytes)-1]); got != "" {
		t.Errorf("the empty text is %q", got)
	}
	if got := Text(nil); got != "" {
		t.Errorf("no text is %q", got)
	}
}

// TestReason opens a library that there is not, from many goroutines: each is
// told why.
func TestReason(t *testing.T) {
	const name = "libredfox-is-not-there.so"
	want := name
	if !Supported {
		want = "cannot be opened"
	}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if _, err := Open(name, false); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the reason is %v", err)
			}
		})
	}
	wg.Wait()
}
