package peer

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
)

// Connections of this process are this user's, over IPv4 and IPv6.
func TestUser(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("not looked at: %v", err)
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		own, to := c.LocalAddr().(*net.TCPAddr).AddrPort(), l.Addr().(*net.TCPAddr).AddrPort()
		if uid, err := User(own, to); err != nil || uid != os.Getuid() {
			t.Errorf("%s: user %d, %v; want %d", address, uid, err, os.Getuid())
		}
		if uid, err := User(to, netip.AddrPort{}); err != nil || uid != os.Getuid() {
			t.Errorf("the listener: user %d, %v", uid, err)
		}
		if _, err := User(own, own); !errors.Is(err, ErrUnknown) {
			t.Errorf("a socket that is connected elsewhere: %v", err)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1234        0 2
   2: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:1F90 01 00000000:00000000 00:00000000 00000000  77 0 3
   3: 00000000000000000000000001000000:C352 00000000000000000000000001000000:1F90 01 00000000:00000000 00:00000000 00000000  78 0 4
`
	if native(make([]byte, 4)); runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the table is that of a machine with the lowest byte first")
	}
	at := netip.MustParseAddrPort
	for _, c := range []struct {
		own, to string
		want    int
	}{{"127.0.0.1:50000", "127.0.0.1:8080", 1234}, {"127.0.0.1:50001", "127.0.0.1:8080", 77}, {"[::1]:50002", "[::1]:8080", 78}} {
		if uid, err := find(strings.NewReader(table), at(c.own), at(c.to)); err != nil || uid != c.want {
			t.Errorf("%s: %d, %v", c.own, uid, err)
		}
	}
	for _, own := range []string{"127.0.0.1:50009", "127.0.0.2:50000"} {
		if _, err := find(strings.NewReader(table), at(own), at("127.0.0.1:8080")); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s is found: %v", own, err)
		}
	}
}
