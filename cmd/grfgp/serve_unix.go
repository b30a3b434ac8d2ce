//go:build unix

package main

import (
	"context"
	"net"
	"syscall"
)

// listenPrivately listens on a unix socket to which nobody else can connect yet.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	defer syscall.Umask(syscall.Umask(0o177))
	return (&net.ListenConfig{}).Listen(ctx, "unix", path)
}
