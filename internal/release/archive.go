package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"grfgp/internal/atomicfile"
)

// file is a file of an archive.
type file struct {
	name   string // in the archive, with slashes
	source string // path on this machine
	runs   bool   // it is a program
}

// below returns the files below a folder of root, named by their path from root.
func below(root, folder string) (all []file, err error) {
	err = filepath.WalkDir(filepath.Join(root, folder), func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, at)
		all = append(all, file{filepath.ToSlash(name), at, false})
		return err
	})
	return all, err
}

// pack writes an archive of files, sorted by name and all of one time: a zip for Windows,
// and otherwise a tar with gzip. It returns the path of the archive.
func pack(out string, p platform, at time.Time, files []file) (string, error) {
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	write, ending := writeTar, ".tar.gz"
	if p.system == "windows" {
		write, ending = writeZip, ".zip"
	}
	name := archiveName(p)
	archive := filepath.Join(out, name+ending)
	return archive, atomicfile.Write(archive, func(w io.Writer) error { return write(w, name, at, files) })
}

// mode is the mode of a file in an archive.
func (f file) mode() fs.FileMode {
	if f.runs {
		return 0o755
	}
	return 0o644
}

func writeTar(w io.Writer, folder string, at time.Time, files []file) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		text, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		head := tar.Header{Name: path.Join(folder, f.name), Mode: int64(f.mode()), Size: int64(len(text)), ModTime: at, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(&head); err != nil {
			return err
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

func writeZip(w io.Writer, folder string, at time.Time, files []file) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		text, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		head := zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: at}
		head.SetMode(f.mode())
		entry, err := archive.CreateHeader(&head)
		if err != nil {
			return err
		}
		if _, err := entry.Write(text); err != nil {
			return err
		}
	}
	return archive.Close()
}

// writeSums writes the checksums of archives as sha256sum does.
func writeSums(name string, archives []string) error {
	var b bytes.Buffer
	for _, archive := range archives {
		text, err := os.ReadFile(archive)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), filepath.Base(archive))
	}
	return atomicfile.Write(name, func(w io.Writer) error { _, err := b.WriteTo(w); return err })
}
