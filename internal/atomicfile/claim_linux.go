package atomicfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// canSweep says that claims can be told from those of dead processes.
const canSweep = true

// claim is the lock that a process holds on a file from its creation until it
// has its final name or is gone. The kernel takes it back when the process
// ends, however it ends.
type claim struct{ fd int } // plus 1; 0 for no file

// claimOf claims a file that this process has just made. The error is errSwept,
// or says that the file system has no locks.
func claimOf(f *os.File) (claim, error) {
	// A lock belongs to all duplicates of a descriptor, so that it outlives the
	// closing of the file, which may report errors.
	fd, err := duplicate(f)
	if err != nil {
		return claim{}, err
	}
	c := claim{fd + 1}
	var info syscall.Stat_t
	err = flock(fd, syscall.LOCK_EX)
	if err == nil {
		err = syscall.Fstat(fd, &info)
	}
	if err == nil && info.Nlink == 0 {
		err = errSwept
	}
	if err != nil {
		c.release()
		return claim{}, err
	}
	return c, nil
}

// release gives the claim back; that of no file does nothing.
func (c *claim) release() {
	if c.fd > 0 {
		syscall.Close(c.fd - 1)
		c.fd = 0
	}
}

func duplicate(f *os.File) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}

// flock locks an open file, however many signals arrive.
func flock(fd, how int) error {
	for {
		if err := syscall.Flock(fd, how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// removeStale removes a file if the process that has made it is gone for
// certain: its claim can be had, and it can have been made only under this
// kernel, which knows all claims. Elsewhere the lock of another machine may not
// be seen.
func removeStale(in folder, path, mark string) {
	f, err := in.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if (mark != kernelMark() || mark == unmarked) && !isLocal(f) {
		return
	}
	if flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return // it is being written
	}
	// The file may have got its final name since its name was read.
	held, err := f.Stat()
	if err != nil {
		return
	}
	if named, err := in.Lstat(path); err == nil && os.SameFile(held, named) {
		step("remove")
		in.Remove(path)
	}
}

// unmarked stands for a kernel that does not tell its name.
const unmarked = "0"

// kernelMark names this kernel from its start to its end.
var kernelMark = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return unmarked
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(string(id))))
	return hex.EncodeToString(sum[:4])
})

// localSystems are the numbers of file systems that one kernel uses at a time
// (statfs(2)): ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, JFS, tmpfs.
var localSystems = []int64{
	0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x3153464a, 0x01021994,
}

// isLocal reports whether a file is on a file system that no other machine
// uses.
func isLocal(f *os.File) bool {
	var info syscall.Statfs_t
	err := syscall.Fstatfs(int(f.Fd()), &info)
	return err == nil && slices.Contains(localSystems, int64(uint32(info.Type)))
}
