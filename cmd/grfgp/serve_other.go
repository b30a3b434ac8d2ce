//go:build !unix

package main

import (
	"context"
	"net"
)

// listenPrivately listens on a unix socket.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "unix", path)
}
