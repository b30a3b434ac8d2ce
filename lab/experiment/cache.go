package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Cache stores the results of finished parts under names that are valid file names.
type Cache interface {
	// Load returns the data saved under a name, or an error that wraps fs.ErrNotExist.
	Load(name string) ([]byte, error)
	// Save stores data atomically.
	Save(name string, data []byte) error
}

// format is the version of the cache's file format.
const format = 1

// entry is a cached part: its result with a checksum, and the settings behind it.
type entry struct {
	Format     int             `json:"format"`
	Experiment string          `json:"experiment"`
	Version    int             `json:"version"`
	Part       string          `json:"cell"`
	Settings   json.RawMessage `json:"settings"`
	Sum        string          `json:"sha256"`
	Result     json.RawMessage `json:"result"`
}

// content is a result in JSON; null stands for NaN, which JSON does not have.
type content struct {
	Rows   []map[string]any      `json:"rows"`
	Arrays map[string][]*float64 `json:"arrays,omitempty"`
}

// key returns the file name of a part, with a hash over all that its result depends on,
// and its settings in JSON.
func (e *Experiment) key(c Part) (name string, settings []byte, err error) {
	settings, err = json.Marshal(c.Settings)
	if err != nil {
		return "", nil, fmt.Errorf("settings of %s, %s: %w", e.Name, c.Name, err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %s %s", format, e.Name, e.Version, c.Name, settings))
	return c.Name + "-" + hex.EncodeToString(sum[:4]) + ".json", settings, nil
}

// encode writes a result as a cache entry.
func (e *Experiment) encode(c Part, settings []byte, r *Result) ([]byte, error) {
	out := content{Arrays: map[string][]*float64{}}
	for _, row := range r.Rows {
		line := map[string]any{}
		for name, v := range row {
			if !e.has(name) {
				panic(fmt.Sprintf("experiment: %s has no column %q", e.Name, name))
			}
			switch v := v.(type) {
			case float64:
				line[name] = finite(v)
			case int, string:
				line[name] = v
			default:
				panic(fmt.Sprintf("experiment: column %q of %s holds a %T", name, e.Name, v))
			}
		}
		out.Rows = append(out.Rows, line)
	}
	for name, values := range r.Arrays {
		list := make([]*float64, len(values))
		for k, v := range values {
			list[k] = finite(v)
		}
		out.Arrays[name] = list
	}
	result, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(result)
	return json.Marshal(entry{format, e.Name, e.Version, c.Name, settings, hex.EncodeToString(sum[:]), result})
}

// finite returns nil for NaN and infinities.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (e *Experiment) has(column string) bool {
	for _, c := range e.Columns {
		if c.Name == column {
			return true
		}
	}
	return false
}

var errDamaged = errors.New("damaged")

// decode reads a cache entry that encode wrote for the same part.
func (e *Experiment) decode(c Part, settings, data []byte) (*Result, error) {
	var k entry
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, errDamaged
	}
	if sum := sha256.Sum256(k.Result); hex.EncodeToString(sum[:]) != k.Sum {
		return nil, errDamaged
	}
	if k.Format != format || k.Experiment != e.Name || k.Version != e.Version || k.Part != c.Name || string(k.Settings) != string(settings) {
		return nil, errors.New("that of another part")
	}
	var in content
	if err := json.Unmarshal(k.Result, &in); err != nil {
		return nil, errDamaged
	}
	r := &Result{Arrays: map[string][]float64{}}
	for _, line := range in.Rows {
		row := Row{}
		for name, v := range line {
			if v == nil {
				v = math.NaN()
			}
			row[name] = v
		}
		r.Rows = append(r.Rows, row)
	}
	for name, list := range in.Arrays {
		values := make([]float64, len(list))
		for k, v := range list {
			if values[k] = math.NaN(); v != nil {
				values[k] = *v
			}
		}
		r.Arrays[name] = values
	}
	return r, nil
}
