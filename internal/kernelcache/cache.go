package kernelcache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/internal/atomicfile"
)

// Variable is the environment variable that names the folder; set to nothing,
// it switches the cache off.
const Variable = "REDFOX_CACHE"

// DefaultBound is how many bytes of entries a cache holds.
const DefaultBound = 256 << 20

// The extensions of entries; files with others are left alone. Records of runs
// have their own, so that they can be removed while the code stays.
const (
	codeExtension   = ".kernel"
	recordExtension = ".record"
)

// recordPrefix begins the keys of records of runs.
const recordPrefix = "records\x00"

// Cache is a folder of entries. It is safe for concurrent use, by goroutines
// and by processes. A nil *Cache holds nothing and takes nothing.
type Cache struct {
	dir   string
	bound int64

	mu   sync.Mutex
	room int64 // bytes that can be written before the folder must be scanned
}

// opened has the caches that Open returned, by folder.
var opened sync.Map

// Open returns the cache of this user, or nil where there is no folder for it.
// Engines of one process share it, as each cache scans its folder before its
// first entry.
func Open() *Cache {
	dir, set := os.LookupEnv(Variable)
	if !set {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		dir = filepath.Join(base, "redfox")
	}
	if dir == "" {
		return nil
	}
	c, _ := opened.LoadOrStore(dir, New(dir, DefaultBound))
	return c.(*Cache)
}

// New returns a cache in a folder, which is made when the first object is put,
// with a bound in bytes.
func New(dir string, bound int64) *Cache { return &Cache{dir: dir, bound: bound} }

// Dir returns the folder; of a nil cache it is "".
func (c *Cache) Dir() string {
	if c == nil {
		return ""
	}
	return c.dir
}

// UntrustedError says that a folder is not used as a cache, because others
// could have put code there.
type UntrustedError struct {
	Dir    string
	Reason string
	Help   string // what to do
}

// Error names the folder and the reason.
func (e *UntrustedError) Error() string {
	return fmt.Sprintf("the code cache %s is not used: %s", e.Dir, e.Reason)
}

// Problem returns an *UntrustedError if the folder is not used for that reason.
// A folder that is not there yet, or cannot be opened, is no problem.
func (c *Cache) Problem() error {
	if c == nil {
		return nil
	}
	root, err := c.open()
	var untrusted *UntrustedError
	if errors.As(err, &untrusted) {
		return untrusted
	}
	if err == nil {
		root.Close()
	}
	return nil
}

// open opens the folder. Each operation does, and looks at the owner and the
// permissions of what it has opened, so that the folder cannot change in
// between.
func (c *Cache) open() (*os.Root, error) {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil {
		if reason, help := distrust(info); reason != "" {
			err = &UntrustedError{Dir: c.dir, Reason: reason, Help: fmt.Sprintf(help, c.dir)}
		}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// Get returns the object under a key. The caller owns the bytes.
func (c *Cache) Get(key string) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	root, err := c.open()
	if err != nil {
		return nil, false
	}
	defer root.Close()
	id, name := sha256.Sum256([]byte(key)), entryName(key)
	data, used, err := readEntry(root, name)
	if err != nil {
		return nil, false
	}
	object, ok := decode(id, data)
	if !ok {
		return nil, false // the Put that follows replaces it
	}
	if time.Since(used) >= recent {
		touch(root, name)
	}
	return object, true
}

// recent is how long ago an entry may have been marked as used to count as used
// now. Marking all entries of a run would write to the disk in each run.
const recent = 10 * time.Minute

// readEntry reads an entry's file, if nobody else can have written it. It
// returns when the entry was marked as used.
func readEntry(root *os.Root, name string) (data []byte, used time.Time, err error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, used, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, used, err
	}
	if reason, _ := distrust(info); reason != "" || !info.Mode().IsRegular() {
		return nil, used, fs.ErrPermission
	}
	data = make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, info.ModTime(), err
}

// Put stores an object under a key, replacing what was there. An object that
// cannot be stored, or is larger than the bound, is not.
func (c *Cache) Put(key string, object []byte) {
	if c == nil {
		return
	}
	id := sha256.Sum256([]byte(key))
	data := encode(id, object)
	if int64(len(data)) > c.bound || os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	root, err := c.open()
	if err != nil {
		return
	}
	defer root.Close()
	c.makeRoom(root, int64(len(data)))
	// An error of one entry is ignored: the object is compiled again next time.
	_ = writeEntry(root, c.path(key), entryName(key), data)
}

// writeEntry makes an entry's file, which only the user may read or write.
func writeEntry(root *os.Root, path, name string, data []byte) error {
	f, err := atomicfile.CreateIn(root, name, path, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// entryName returns the name of the file of a key.
func entryName(key string) string {
	extension := codeExtension
	if strings.HasPrefix(key, recordPrefix) {
		extension = recordExtension
	}
	id := sha256.Sum256([]byte(key))
	return hex.EncodeToString(id[:]) + extension
}

func (c *Cache) path(key string) string { return filepath.Join(c.dir, entryName(key)) }

// touch marks an entry as used now. It fails where the folder is read-only, and
// then nothing is removed there either.
func touch(root *os.Root, name string) {
	now := time.Now()
	_ = root.Chtimes(name, now, now)
}
