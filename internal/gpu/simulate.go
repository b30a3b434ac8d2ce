package gpu

import (
	"fmt"
	"sync"
	"unsafe"
)

// Simulated says how a simulated card behaves; the zero value never fails.
type Simulated struct {
	Memory    int64 // bytes of memory; 0: no limit
	FailAfter int   // the card is lost after so many launches; 0: never
	FailLate  bool  // of a lost card only copies to the processor tell, as cards do
}

// Simulate returns a card that is none: the twins of the kernels run in this process, in the
// order of operations of the card. It is for tests.
func Simulate(how Simulated) *Device {
	return newDevice(&simulated{how: how, memories: map[pointer][]uint64{}}, "twins of the kernels")
}

// simulated is the driver of a simulated card. A pointer is the number of a piece of memory.
type simulated struct {
	how Simulated

	mu       sync.Mutex // guards what follows
	memories map[pointer][]uint64
	last     pointer
	used     int64
	launches int
	lost     bool
}

func (s *simulated) name() string { return "simulated card" }

func (s *simulated) memory() (free, total int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total = s.how.Memory
	if total == 0 {
		total = 1 << 40
	}
	return total - s.used, total, s.err()
}

// err is that of a lost card; the caller holds mu.
func (s *simulated) err() error {
	if s.lost {
		return fmt.Errorf("%w (simulated)", ErrLost)
	}
	return nil
}

func (s *simulated) alloc(bytes int64) (pointer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return 0, s.err()
	}
	if s.how.Memory > 0 && s.used+bytes > s.how.Memory {
		return 0, ErrMemory
	}
	s.last++
	data := make([]uint64, (bytes+7)/8)
	for i := range data {
		data[i] = 0x7ff8dead7ff8dead // not a number: contents are undefined
	}
	s.memories[s.last] = data
	s.used += bytes
	return s.last, nil
}

func (s *simulated) release(at pointer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= int64(8 * len(s.memories[at]))
	delete(s.memories, at)
	return nil
}

// bytes returns a piece of memory.
func (s *simulated) bytes(at pointer, n int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return view[byte](s.memories, at)[:n]
}

// view returns the numbers at a pointer; nil at 0.
func view[T any](memories map[pointer][]uint64, at pointer) []T {
	if at == 0 {
		return nil
	}
	data, ok := memories[at]
	if !ok {
		panic(fmt.Sprintf("gpu: there is no memory %d", at))
	}
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), 8*len(data)/int(unsafe.Sizeof(one)))
}

func (s *simulated) upload(dst pointer, src unsafe.Pointer, bytes int64) error {
	copy(s.bytes(dst, bytes), unsafe.Slice((*byte)(src), bytes))
	return s.wait()
}

func (s *simulated) download(dst unsafe.Pointer, src pointer, bytes int64) error {
	if err := s.wait(); err != nil {
		return err
	}
	copy(unsafe.Slice((*byte)(dst), bytes), s.bytes(src, bytes))
	return nil
}

func (s *simulated) clear(at pointer, bytes int64) error {
	clear(s.bytes(at, bytes))
	return s.wait()
}

func (s *simulated) copy(dst, src pointer, bytes int64) error {
	copy(s.bytes(dst, bytes), s.bytes(src, bytes))
	return s.wait()
}

func (s *simulated) launch(kernel string, groups, threads int, args *arguments) error {
	twin, ok := twins[kernel]
	if !ok {
		return fmt.Errorf("there is no kernel %s", kernel)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.launches++
	s.lost = s.lost || s.how.FailAfter > 0 && s.launches > s.how.FailAfter
	if s.lost {
		if s.how.FailLate {
			return nil
		}
		return s.err()
	}
	if want := threadsOf(kernel); threads != want {
		return fmt.Errorf("kernel %s has %d threads, not %d", kernel, want, threads)
	}
	call := &call{memories: s.memories, reader: reader{args: args}, groups: groups}
	twin(call)
	if call.next != len(args.starts) {
		return fmt.Errorf("kernel %s takes %d arguments, not %d", kernel, call.next, len(args.starts))
	}
	return nil
}

func (s *simulated) wait() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err()
}

func (s *simulated) close() error { return nil }
