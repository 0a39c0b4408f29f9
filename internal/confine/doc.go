// Package confine opens files below folders, for paths that an untrusted
// program names.
//
// In: the folders, and a path as the program has it. Out: the open file, or an
// *OutsideError if the path leads to none of the folders. Symbolic links are
// followed as long as they stay below one of the folders. Each file is opened
// through an os.Root, so that links, "..", and renames between the check and
// the open do not lead out. Hard links are files of the folder that they are
// in.
//
// It must import no package of redfox but atomicfile.
package confine
