package kernelcache

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// makeRoom removes entries, those used longest ago first, if those that are
// there and n more bytes could exceed the bound. The folder is scanned when a
// sixteenth of the bound, or all that was free, has been written since the last
// scan. Other processes may fill it meanwhile, so each process that writes can
// exceed the bound by a sixteenth.
func (c *Cache) makeRoom(root *os.Root, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > c.room {
		entries, total := scan(root)
		if total+n > c.bound {
			// An eighth more goes than must, so that a full cache is not
			// scanned for each entry.
			total = remove(root, entries, total, min(c.bound-c.bound/8, c.bound-n))
		}
		c.room = max(min(c.bound/16, c.bound-total), n)
	}
	c.room -= n
}

// entry is one file of the cache.
type entry struct {
	name string
	size int64
	used time.Time
}

// scan lists the entries and their size in all.
func scan(root *os.Root) (entries []entry, total int64) {
	files, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, 0
	}
	for _, f := range files {
		name := f.Name()
		if ext := filepath.Ext(name); ext != codeExtension && ext != recordExtension {
			continue
		}
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // another process has removed it
		}
		e := entry{name, info.Size(), info.ModTime()}
		entries = append(entries, e)
		total += e.size
	}
	return entries, total
}

// remove removes the entries used longest ago until the rest takes at most most
// bytes, and returns the size of the rest. An entry that is already gone was
// removed by another process and counts as removed.
func remove(root *os.Root, entries []entry, total, most int64) int64 {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name))
	})
	for _, e := range entries {
		if total <= most {
			break
		}
		if err := root.Remove(e.name); err != nil && !os.IsNotExist(err) {
			break // a folder that lets nothing go will not let the next one go
		}
		total -= e.size
	}
	return total
}
