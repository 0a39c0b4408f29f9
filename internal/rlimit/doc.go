// Package rlimit reads the limits that the operating system sets a process
// (ulimit). It imports nothing of redfox.
package rlimit
