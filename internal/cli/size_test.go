package cli

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{
		"1": 1, "10B": 10, "1k": 1 << 10, "1.5K": 1536, "2M": 2 << 20, "2MB": 2 << 20, "2 MiB": 2 << 20, "8GiB": 8 << 30, "1T": 1 << 40,
	} {
		var s Size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%q is %d, %v; want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "G", "-1", "0", "1X", "1MG", "nan", "inf", "1e300T"} {
		var s Size
		if err := s.Set(text); err == nil {
			t.Errorf("%q was read as %d", text, s)
		}
	}
	for s, want := range map[Size]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 5 << 30: "5 GiB", 123456789: "118 MiB"} {
		if got := s.String(); got != want {
			t.Errorf("%d is shown as %q, want %q", int64(s), got, want)
		}
	}
}
