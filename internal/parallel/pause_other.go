//go:build !amd64 || purego

package parallel

func pause() {}
