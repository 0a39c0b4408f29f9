package buildid

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"io"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
)

// Get returns the ID of the running executable. Two builds share an ID only if
// they have the same code. The ID is the one that the linker wrote, a hash of
// everything that it linked, or else the hash of the file. It is computed once
// per process. The error is that of reading the file.
func Get() (string, error) { return get() }

var get = sync.OnceValues(func() (string, error) {
	name := "/proc/self/exe" // also where another file has taken the name
	if goruntime.GOOS != "linux" {
		var err error
		if name, err = os.Executable(); err != nil {
			return "", err
		}
	}
	return ofFile(name)
})

// ofFile returns the ID of an executable.
func ofFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if id, err := linkerID(f); err == nil {
		return "go " + id, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256 " + hex.EncodeToString(h.Sum(nil)), nil
}

// linkerID reads the ID that Go's linker writes into ELF files. Builds may
// replace it by a text of their own, which says nothing: it is taken only in
// the form that the go command gives it, the hashes of the link's inputs and of
// its results.
func linkerID(f io.ReaderAt) (string, error) {
	none := errors.New("no ID of Go's linker")
	file, err := elf.NewFile(f)
	if err != nil {
		return "", err
	}
	section := file.Section(".note.go.buildid")
	if section == nil {
		return "", none
	}
	data, err := section.Data()
	if err != nil {
		return "", err
	}
	// The length of the name, that of the ID, a type, and the name.
	const head = 16
	if len(data) < head || !bytes.Equal(data[head-4:head], []byte("Go\x00\x00")) {
		return "", none
	}
	size := int(file.ByteOrder.Uint32(data[4:]))
	if size > len(data)-head {
		return "", none
	}
	id := string(data[head : head+size])
	hashes := strings.Split(id, "/")
	if len(hashes) != 4 {
		return "", none
	}
	for _, hash := range hashes {
		if len(hash) != 20 {
			return "", none
		}
	}
	return id, nil
}
