package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"grfgp/internal/testkit"
)

// contents returns the names of an archive's files, those that run with a star.
func contents(t *testing.T, archive string) (names []string) {
	t.Helper()
	note := func(name string, mode os.FileMode) {
		if mode&0o111 != 0 {
			name += "*"
		}
		names = append(names, name)
	}
	if strings.HasSuffix(archive, ".zip") {
		z, err := zip.OpenReader(archive)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, f := range z.File {
			note(f.Name, f.Mode())
		}
		return names
	}
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(plain); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		note(head.Name, head.FileInfo().Mode())
	}
}

// An archive depends on the names and contents of its files alone.
func TestArchives(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, p := range platforms {
		var all [][]byte
		for k := range 2 {
			dir := t.TempDir()
			var files []file
			for _, name := range []string{"LICENSE", "man/man1/grfgp.1", p.program()} {
				source := filepath.Join(dir, filepath.Base(name))
				if err := os.WriteFile(source, []byte(name), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(source, at.Add(time.Duration(k)*time.Hour), at.Add(time.Duration(k)*time.Hour)); err != nil {
					t.Fatal(err)
				}
				files = append(files, file{name, source, name == p.program()})
			}
			if k == 1 {
				slices.Reverse(files)
			}
			archive, err := pack(dir, p, at, files)
			if err != nil {
				t.Fatal(err)
			}
			folder := archiveName(p) + "/"
			if got, want := contents(t, archive), []string{folder + "LICENSE", folder + p.program() + "*", folder +
				"man/man1/grfgp.1"}; !slices.Equal(got, want) {
				t.Errorf("%v: %q, want %q", p, got, want)
			}
			text, err := os.ReadFile(archive)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
			sums := filepath.Join(dir, "SHA256SUMS")
			if err := writeSums(sums, []string{archive}); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(text)
			if got, _ := os.ReadFile(sums); string(got) != hex.EncodeToString(sum[:])+"  "+filepath.Base(archive)+"\n" {
				t.Errorf("%v: %s", p, got)
			}
		}
		if !bytes.Equal(all[0], all[1]) {
			t.Errorf("%v: the same files made two archives", p)
		}
	}
}

// A build has the same bytes in every folder, and names its commit.
func TestBuildTwice(t *testing.T) {
	t.Parallel()
	testkit.Full(t)
	root, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	const commit = "0123456789abcdef0123456789abcdef01234567"
	here := platform{runtime.GOOS, runtime.GOARCH}
	var programs [][]byte
	for range 2 {
		program := filepath.Join(t.TempDir(), here.program())
		if err := build(t.Context(), root, here, commit, program); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, text)
	}
	if !bytes.Equal(programs[0], programs[1]) {
		t.Error("two builds of the same sources differ")
	}
	if !bytes.Contains(programs[0], []byte(commit)) || bytes.Contains(programs[0], []byte(root+"/")) {
		t.Error("the program does not name its commit, or names a folder of this machine")
	}
}

func TestUnknownPlatform(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), t.TempDir(), "plan9/amd64", true); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Error(err)
	}
}
