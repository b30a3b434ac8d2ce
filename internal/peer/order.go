package peer

import (
	"encoding/binary"
	"slices"
)

// native turns four bytes from the order of the machine to that of the network.
func native(word []byte) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		slices.Reverse(word)
	}
}
