package main

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// keyPair is a certificate with its key, read again when the files change: certificates
// are renewed while servers run.
type keyPair struct {
	cert, key string
	failed    func(error)

	mu      sync.Mutex
	read    *tls.Certificate
	changed [2]time.Time
}

// current returns the certificate. If new files cannot be used, the old certificate stays.
func (p *keyPair) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := [2]time.Time{changeOf(p.cert), changeOf(p.key)}
	if p.read != nil && changed == p.changed {
		return p.read, nil
	}
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	switch {
	case err == nil:
		p.read, p.changed = &pair, changed
	case p.read == nil:
		return nil, err
	default:
		p.changed = changed // say it once
		p.failed(err)
	}
	return p.read, nil
}

// changeOf is when a file was changed; zero: it is not there.
func changeOf(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
