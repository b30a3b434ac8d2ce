// Package peer finds out which user of this machine is at the other end of a connection
// over loopback.
package peer

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// ErrUnknown is wrapped if the user cannot be found.
var ErrUnknown = errors.New("the user at the other end is not known")

// tables are where Linux lists its sockets.
var tables = []string{"/proc/net/tcp", "/proc/net/tcp6"}

// User returns the id of the user whose process has the socket with the address own that
// is connected to the address to; the zero address: any. Both are of this machine. It knows
// Linux only.
func User(own, to netip.AddrPort) (int, error) {
	for _, table := range tables {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		uid, err := find(f, unmapped(own), unmapped(to))
		f.Close()
		if err == nil {
			return uid, nil
		}
	}
	return 0, fmt.Errorf("%w: %v", ErrUnknown, own)
}

func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// find looks for a socket in a table of the kernel.
func find(table io.Reader, own, to netip.AddrPort) (uid int, err error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		words := strings.Fields(lines.Text()) // sl local remote state queues timer retransmits uid …
		if len(words) < 10 {
			continue
		}
		local, err := parse(words[1])
		if err != nil || local != own {
			continue
		}
		if remote, err := parse(words[2]); err != nil || to.IsValid() && remote != to {
			continue
		}
		return strconv.Atoi(words[7])
	}
	return 0, errors.Join(ErrUnknown, lines.Err())
}

// parse reads an address as 0100007F:1F90: words of 32 bits, each in the order of the
// machine's bytes.
func parse(text string) (netip.AddrPort, error) {
	address, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	number, badPort := strconv.ParseUint(port, 16, 16)
	if err != nil || badPort != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, fmt.Errorf("%w: %q is no address", ErrUnknown, text)
	}
	for k := 0; k < len(raw); k += 4 {
		native(raw[k : k+4])
	}
	ip, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), nil
}
