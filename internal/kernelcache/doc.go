// Package kernelcache keeps compiled code on disk, so that a program that was
// compiled before need not be compiled again, and what loading has proven about
// files.
//
// In: objects under keys that say everything the object depends on. Out: the
// same objects, in this process and in later ones. A cache makes nothing fail:
// without a folder that can be used there is no cache, and an entry that is
// damaged, cut short or not the cache's is as good as absent. It knows neither
// LLVM nor kernels, and must import no package of redfox but atomicfile.
//
// # On disk
//
// The folder is REDFOX_CACHE's, or redfox in the user's folder of caches; with
// REDFOX_CACHE set to nothing there is no cache. An entry is one file, named by
// the SHA-256 of its key. It holds that sum again, the length and the CRC-32C
// of the object, and the object. A file appears when it is whole (atomicfile),
// so any number of processes may use one folder at once; after a crash of the
// machine the checksum tells whether an entry is whole.
//
// Code from the cache is run, so that nobody else may put it there. The folder,
// and each entry, has to belong to the user or to root and to be writable by
// nobody else; a folder that is not so is no cache, and such an entry is as
// good as absent. The folder is made with mode 0700 and entries with 0600.
// Systems without owners of files in the sense of Unix are not checked.
//
// The files' modification times tell, to ten minutes, when an entry was used
// last: access times are not kept on many machines. When the entries take more
// than the bound, those that were used longest ago go first.
package kernelcache
