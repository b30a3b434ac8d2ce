package parallel

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// Panic is a panic of a goroutine that worked for another, which panics with it in turn. A
// panic that nobody recovers in its own goroutine would end the process, and a server
// must survive a model that cannot be fitted.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Unwrap returns the value of the panic if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Catch calls f and returns its panic, nil if there is none. It is for goroutines that
// work for another and report how they ended.
func Catch(f func()) *Panic {
	var p atomic.Pointer[Panic]
	func() {
		defer catch(&p)
		f()
	}()
	return p.Load()
}

// catch recovers a panic of the goroutine that defers it, and keeps it unless there is one.
func catch(first *atomic.Pointer[Panic]) {
	v := recover()
	if v == nil {
		return
	}
	p, inner := v.(*Panic) // of a call within
	if !inner {
		p = &Panic{v, debug.Stack()}
	}
	first.CompareAndSwap(nil, p)
}
