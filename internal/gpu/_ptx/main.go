// Command ptx makes kernels.ptx of package gpu; run it by go generate in that package. It
// needs clang 14 with its target for NVIDIA's cards, as Debian's package clang-14 has it, and
// nothing of NVIDIA's.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
)

// compiler is of one version: another makes another text.
const compiler = "clang-14"

// flags make code for cards from 2016 on, in the version of PTX that the first drivers for
// their successors read. Products and sums are not fused.
var flags = []string{
	"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_60", "-Xclang", "-target-feature", "-Xclang", "+ptx60",
	"-nocudainc", "-nocudalib", "-std=c++14", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-sign-compare", "-Werror",
	"-include", "prelude.h", "-S", "-o", "-", "kernels.cu",
}

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "kernels.ptx cannot be made:", err)
		os.Exit(1)
	}
}

func generate() error {
	if err := os.Chdir(".."); err != nil {
		return err
	}
	prelude, err := os.ReadFile("prelude.h")
	if err != nil {
		return err
	}
	kernels, err := os.ReadFile("kernels.cu")
	if err != nil {
		return err
	}
	cmd := exec.Command(compiler, flags...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", compiler, err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "// Code generated from kernels.cu by go generate with %s. DO NOT EDIT.\n", compiler)
	fmt.Fprintf(&out, "// SHA-256 of prelude.h and kernels.cu: %x\n", sha256.Sum256(append(prelude, kernels...)))
	out.Write(text)
	return os.WriteFile("kernels.ptx", out.Bytes(), 0o644)
}
