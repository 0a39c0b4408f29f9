package kernelcache

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/internal/atomicfile"
)

// Variable is the environment variable that names the folder; set to nothing, it
// switches the cache off.
const Variable = "REDFOX_CACHE"

// DefaultBound is how many bytes of entries a cache holds.
const DefaultBound = 256 << 20

// extension is that of entries; files without it are left alone.
const extension = ".kernel"

// Cache is a folder of entries. It is safe for concurrent use, by goroutines and
// by processes. A nil *Cache holds nothing and takes nothing.
type Cache struct {
	dir   string
	bound int64

	mu   sync.Mutex
	room int64 // bytes that can be written before the folder must be looked at
}

// Open returns the cache of this user, or nil where there is no folder for it.
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
	return New(dir, DefaultBound)
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

// Get returns the object under a key. The caller owns the bytes.
func (c *Cache) Get(key string) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	id := sha256.Sum256([]byte(key))
	path := c.path(id)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	object, ok := decode(id, data)
	if !ok {
		return nil, false // the Put that follows replaces it
	}
	touch(path)
	return object, true
}

// Put stores an object under a key, replacing what was there. An object that can
// not be stored, or is larger than the bound, is not.
func (c *Cache) Put(key string, object []byte) {
	if c == nil {
		return
	}
	id := sha256.Sum256([]byte(key))
	data := encode(id, object)
	if int64(len(data)) > c.bound || os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	c.makeRoom(int64(len(data)))
	// What went wrong with one entry is no reason to fail: the object is compiled
	// again next time.
	_ = atomicfile.WriteBytes(c.path(id), data)
}

func (c *Cache) path(id [sha256.Size]byte) string {
	return filepath.Join(c.dir, hex.EncodeToString(id[:])+extension)
}

// touch marks an entry as used now. It fails where the folder is read-only, and
// then nothing is removed there either.
func touch(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}
