package primitives

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"sync"
)

// Target is an architecture that the primitives are compiled for.
type Target string

// The targets.
const (
	NVPTX64 Target = "nvptx64" // NVIDIA GPUs from sm_80 on
	X86_64  Target = "x86_64"  // Linux on x86-64
	AArch64 Target = "aarch64" // Linux on 64-bit Arm
)

// Targets returns all targets.
func Targets() []Target { return []Target{NVPTX64, X86_64, AArch64} }

// Triple returns LLVM's name of the target.
func (t Target) Triple() string {
	if t == NVPTX64 {
		return "nvptx64-nvidia-cuda"
	}
	return string(t) + "-unknown-linux-gnu"
}

//go:embed bitcode/*.bc
var bitcode embed.FS

// Bitcode returns the primitives as an LLVM module, in the bitcode of LLVM 15.
// It names no processor and is not optimised: link it, then optimise.
func Bitcode(t Target) ([]byte, error) {
	code, err := bitcode.ReadFile("bitcode/" + string(t) + ".bc")
	if err != nil {
		return nil, fmt.Errorf("no primitives for target %q; there are those for %v", t, Targets())
	}
	return code, nil
}

// Digest returns a checksum of Bitcode in hexadecimal, for the keys of what is
// compiled from it.
func Digest(t Target) (string, error) {
	if known, ok := digests.Load(t); ok {
		return known.(string), nil
	}
	code, err := Bitcode(t)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(code)
	digest := hex.EncodeToString(sum[:])
	digests.Store(t, digest)
	return digest, nil
}

var digests sync.Map // Target to string
