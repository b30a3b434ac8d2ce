//go:build mpi

package mpi

/*
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" // MPICH's MPI_STATUSES_IGNORE is an address of no memory
#endif

// MPI's constants are macros, and some are not constant expressions: these functions
// have them. Each returns MPI's error code.

static int grfgp_init(int *provided) {
	int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, provided);
	if (code != MPI_SUCCESS) return code;
	if (*provided < MPI_THREAD_SERIALIZED) return MPI_SUCCESS;
	return MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static int grfgp_serialized(int provided) { return provided >= MPI_THREAD_SERIALIZED; }
static int grfgp_rank(int *rank) { return MPI_Comm_rank(MPI_COMM_WORLD, rank); }
static int grfgp_size(int *size) { return MPI_Comm_size(MPI_COMM_WORLD, size); }
static void grfgp_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

static MPI_Request *grfgp_requests(int n) { return malloc((n > 0 ? n : 1) * sizeof(MPI_Request)); }

static int grfgp_gather(void *all, int *lengths, int *starts, MPI_Request *request) {
	return MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, lengths, starts, MPI_BYTE, MPI_COMM_WORLD, request);
}

static int grfgp_send(void *from, int n, int rank, MPI_Request *requests, int at) {
	return MPI_Isend(from, n, MPI_BYTE, rank, 0, MPI_COMM_WORLD, requests + at);
}

static int grfgp_receive(void *to, int n, int rank, MPI_Request *requests, int at) {
	return MPI_Irecv(to, n, MPI_BYTE, rank, 0, MPI_COMM_WORLD, requests + at);
}

// grfgp_test looks a number of times whether all requests are done.
static int grfgp_test(int n, MPI_Request *requests, int *done) {
	*done = 0;
	for (int look = 0; look < 64 && !*done; look++) {
		int code = MPI_Testall(n, requests, done, MPI_STATUSES_IGNORE);
		if (code != MPI_SUCCESS) return code;
		if (!*done) sched_yield();
	}
	return MPI_SUCCESS;
}

static int grfgp_text(int code, char *text, int *n) { return MPI_Error_string(code, text, n); }
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"grfgp/internal/ranks"
)

// most is the number of bytes of one message: MPI counts them in a C int.
const most = 1 << 30

// World is the ranks that mpirun, srun or another launcher started. It implements
// ranks.Transport.
type World struct {
	rank, size int
	mu         sync.Mutex // MPI allows one call at a time
}

// Start joins the ranks of this run. It is called once, and ended by Finish.
func Start() (*World, error) {
	// Go turns faults into panics. Open MPI would replace its signal handlers.
	if _, set := os.LookupEnv("OMPI_MCA_opal_signal"); !set {
		if err := os.Setenv("OMPI_MCA_opal_signal", ""); err != nil {
			return nil, err
		}
	}
	var provided, rank, size C.int
	if err := failure("starting", C.grfgp_init(&provided)); err != nil {
		return nil, err
	}
	if C.grfgp_serialized(provided) == 0 {
		return nil, errors.New("this MPI library cannot be used by several threads, even one at a time; use one that was built with thread " +
			"support")
	}
	if err := failure("asking for the rank", C.grfgp_rank(&rank)); err != nil {
		return nil, err
	}
	if err := failure("asking for the number of ranks", C.grfgp_size(&size)); err != nil {
		return nil, err
	}
	return &World{rank: int(rank), size: int(size)}, nil
}

// Finish leaves the run. All ranks call it.
func (w *World) Finish() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return failure("ending", C.MPI_Finalize())
}

// Abort ends all ranks at once, with an exit code. It does not return.
func (w *World) Abort(code int) {
	C.grfgp_abort(C.int(code))
	os.Exit(code)
}

// Rank returns the number of this rank.
func (w *World) Rank() int { return w.rank }

// Size returns the number of ranks.
func (w *World) Size() int { return w.size }

// Gather completes buf on all ranks, as ranks.Transport says.
func (w *World) Gather(ctx context.Context, buf []byte, lengths []int) error {
	total := 0
	for _, n := range lengths {
		total += n
	}
	if total == 0 {
		return nil
	}
	if total > most {
		return w.gatherLarge(ctx, buf, lengths)
	}
	sizes, starts := make([]C.int, w.size), make([]C.int, w.size)
	at := 0
	for r, n := range lengths {
		sizes[r], starts[r] = C.int(n), C.int(at)
		at += n
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(&buf[0])
	pins.Pin(&sizes[0])
	pins.Pin(&starts[0])
	w.mu.Lock()
	defer w.mu.Unlock()
	requests := C.grfgp_requests(1)
	defer C.free(unsafe.Pointer(requests))
	if err := failure("gathering", C.grfgp_gather(unsafe.Pointer(&buf[0]), &sizes[0], &starts[0], requests)); err != nil {
		return err
	}
	return w.wait(ctx, 1, requests)
}

// gatherLarge is Gather by messages between every two ranks.
func (w *World) gatherLarge(ctx context.Context, buf []byte, lengths []int) error {
	in, out := make([][]byte, w.size), make([][]byte, w.size)
	at := 0
	for r, n := range lengths {
		in[r] = buf[at:][:n]
		at += n
	}
	for r := range out {
		if r != w.rank {
			out[r] = in[w.rank]
		}
	}
	in[w.rank] = nil
	return w.Exchange(ctx, in, out)
}

// Exchange sends out[r] to rank r and fills in[r], as ranks.Transport says.
func (w *World) Exchange(ctx context.Context, in, out [][]byte) error {
	count := 0
	for r := range w.size {
		count += pieces(in[r]) + pieces(out[r])
	}
	if count == 0 {
		return nil
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	w.mu.Lock()
	defer w.mu.Unlock()
	requests := C.grfgp_requests(C.int(count))
	defer C.free(unsafe.Pointer(requests))
	at := C.int(0)
	// Receives first, so that no message has to wait in a buffer.
	for r := range w.size {
		for b := in[r]; len(b) > 0; b = b[min(most, len(b)):] {
			pins.Pin(&b[0])
			if err := failure("receiving", C.grfgp_receive(unsafe.Pointer(&b[0]), C.int(min(most, len(b))), C.int(r), requests, at)); err != nil {
				return err
			}
			at++
		}
	}
	for r := range w.size {
		for b := out[r]; len(b) > 0; b = b[min(most, len(b)):] {
			pins.Pin(&b[0])
			if err := failure("sending", C.grfgp_send(unsafe.Pointer(&b[0]), C.int(min(most, len(b))), C.int(r), requests, at)); err != nil {
				return err
			}
			at++
		}
	}
	return w.wait(ctx, count, requests)
}

// pieces returns the number of messages that b takes.
func pieces(b []byte) int { return (len(b) + most - 1) / most }

// wait returns when all requests are done. It looks often at first, and leaves the
// processor to others when it takes long. After an error, or when ctx has ended, the
// ranks are out of step, and the run must end.
func (w *World) wait(ctx context.Context, n int, requests *C.MPI_Request) error {
	for looks := 0; ; looks++ {
		var done C.int
		if err := failure("waiting", C.grfgp_test(C.int(n), requests, &done)); err != nil {
			return fmt.Errorf("%w: %w", ranks.ErrLost, err)
		}
		if done != 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if looks > 100 {
			time.Sleep(time.Duration(min(200, looks/10)) * time.Microsecond)
		}
	}
}

// failure returns the error of an MPI call; nil if it went well.
func failure(what string, code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	var n C.int
	text := (*C.char)(C.malloc(C.MPI_MAX_ERROR_STRING))
	defer C.free(unsafe.Pointer(text))
	if C.grfgp_text(code, text, &n) != C.MPI_SUCCESS || n > math.MaxInt16 {
		return fmt.Errorf("MPI: %s: code %d", what, int(code))
	}
	return fmt.Errorf("MPI: %s: %s", what, C.GoStringN(text, n))
}
