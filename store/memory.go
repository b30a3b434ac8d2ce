package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"grfgp/study"
)

// memory is a Store in memory.
type memory struct {
	mu          sync.Mutex
	logs        map[string]*study.MemoryLog
	graphs      map[string][]byte
	checkpoints map[string][]byte
	marks       map[string]string
	summaries   map[string]*study.Summary
}

func newMemory() *memory {
	return &memory{logs: map[string]*study.MemoryLog{}, graphs: map[string][]byte{}, checkpoints: map[string][]byte{},
		marks: map[string]string{}, summaries: map[string]*study.Summary{}}
}

func (m *memory) Log(name string) study.Log {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.logs[name] == nil {
		m.logs[name] = new(study.MemoryLog)
	}
	return &memoryLog{m.logs[name], m, name}
}

// memoryLog is a log with its summary.
type memoryLog struct {
	*study.MemoryLog
	of    *memory
	study string
}

// AppendSummary implements study.SummaryLog.
func (l *memoryLog) AppendSummary(ctx context.Context, summary *study.Summary, events ...study.Event) error {
	if err := l.Append(ctx, events...); err != nil {
		return err
	}
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	l.of.summaries[l.study] = summary // Studies looks whether it is that of the last event
	return nil
}

func (m *memory) Checkpoints(name string) study.CheckpointStore { return memoryCheckpoints{m, name} }

type memoryCheckpoints struct {
	*memory
	study string
}

func (k memoryCheckpoints) Save(_ context.Context, checkpoint []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if log := k.logs[k.study]; log == nil || log.Len() == 0 {
		return nil
	}
	k.checkpoints[k.study] = slices.Clone(checkpoint)
	return nil
}

func (k memoryCheckpoints) Load(context.Context) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.checkpoints[k.study]), nil
}

func (m *memory) Studies(ctx context.Context) ([]StudyInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := []StudyInfo{}
	for _, name := range slices.Sorted(maps.Keys(m.logs)) {
		info := StudyInfo{Name: name}
		for e, err := range m.logs[name].Events(ctx, 0) {
			if err != nil {
				return nil, err
			}
			if e.Seq == 1 {
				info.Created = e.Time
			}
			info.Events, info.Updated = e.Seq, e.Time
		}
		if m := m.summaries[name]; m != nil && m.Seq == info.Events {
			info.Summary = m
		}
		if info.Events > 0 {
			all = append(all, info)
		}
	}
	return all, nil
}

func (m *memory) PutGraph(_ context.Context, packed []byte) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := GraphID(packed)
	m.graphs[id] = slices.Clone(packed)
	return id, nil
}

func (m *memory) Graph(_ context.Context, id string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	packed, ok := m.graphs[id]
	if !ok {
		return nil, noGraph(id)
	}
	return slices.Clone(packed), nil
}

func noGraph(id string) error { return fmt.Errorf("%w: there is no graph %s", ErrNotFound, id) }

func (m *memory) Graphs(context.Context) ([]GraphInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := []GraphInfo{}
	for _, id := range slices.Sorted(maps.Keys(m.graphs)) {
		all = append(all, GraphInfo{id, int64(len(m.graphs[id]))})
	}
	return all, nil
}

func (m *memory) Close() error { return nil }
