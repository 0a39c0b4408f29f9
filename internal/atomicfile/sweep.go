package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// swept has the folders that this process has looked through.
var swept sync.Map

// sweepOnce removes what killed processes have left in a folder, the first time
// that this process writes there. Errors are ignored: a file that stays is
// harmless, and the next process tries again.
func sweepOnce(in folder, dir string) {
	place := dir
	if root, ok := in.(*os.Root); ok {
		place = filepath.Join(root.Name(), dir)
	}
	if _, done := swept.LoadOrStore(place, true); done || !canSweep {
		return
	}
	f, err := in.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return
	}
	for _, e := range entries {
		if mark, ok := markOf(e.Name()); ok && e.Type().IsRegular() {
			removeStale(in, filepath.Join(dir, e.Name()), mark)
		}
	}
}

// markOf returns the mark of the kernel under which a process has made a file,
// by the file's name. Files of versions that claimed none have no mark, and
// stay.
func markOf(name string) (mark string, ok bool) {
	if match, _ := filepath.Match(Leftovers, name); !match {
		return "", false
	}
	parts := strings.Split(name, "-")
	if len(parts) != 4 {
		return "", false
	}
	return parts[1], true
}
