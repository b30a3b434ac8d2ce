package dataset

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"grfgp/internal/atomicfile"
)

// sumsFile holds, in the format of sha256sum, the checksums of first downloads, for
// publishers that state none.
const sumsFile = "SHA256SUMS"

// recorded reads the checksums in a folder of the store.
func recorded(root string) (map[string]string, error) {
	sums := map[string]string{}
	f, err := os.Open(filepath.Join(root, sumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return sums, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading checksums: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if sum, file, ok := strings.Cut(lines.Text(), "  "); ok {
			sums[file] = sum
		}
	}
	return sums, lines.Err()
}

// record adds the checksum of a file to those of a folder.
func record(root, file, sum string) error {
	sums, err := recorded(root)
	if err != nil {
		return err
	}
	sums[file] = sum
	return atomicfile.Write(filepath.Join(root, sumsFile), func(w io.Writer) error {
		for _, file := range slices.Sorted(maps.Keys(sums)) {
			if _, err := fmt.Fprintf(w, "%s  %s\n", sums[file], file); err != nil {
				return err
			}
		}
		return nil
	})
}

// sumOf returns the SHA-256 of a file and its size.
func sumOf(ctx context.Context, path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, fmt.Errorf("computing a checksum: %w", err)
	}
	defer f.Close()
	h, buffer := sha256.New(), make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		n, err := f.Read(buffer)
		h.Write(buffer[:n])
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), size, nil
		}
		if err != nil {
			return "", 0, fmt.Errorf("computing a checksum: %w", err)
		}
	}
}
