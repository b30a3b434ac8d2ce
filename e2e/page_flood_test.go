package e2e

import (
	"fmt"
	"testing"

	"grfgp/internal/testkit"
	"grfgp/server/servertest"
	"grfgp/study"
)

// The page is open while results pour in: it stays whole, and shows the last of
// them.
func TestFlood(t *testing.T) {
	inBrowser(t)
	tells := testkit.Size(1000, 10_000)
	h := servertest.New(t)
	h.Create(100, func(s *study.Settings) { s.Repeats = true })
	h.Observe(servertest.Five)
	log := newTab(t, h.HTTP.URL, 1280, 900)
	log.open("#/studies/s/log")
	log.waitText(".log", "added 5 measurements")
	look := newTab(t, h.HTTP.URL, 1280, 900)
	look.open("#/studies/s/map")
	look.waitFor("#map[data-seq]")

	const clients = 4
	failed := make(chan error, clients)
	for c := range clients {
		go func() {
			for k := c; k < tells; k += clients {
				body := map[string]any{"observations": []study.Measurement{{Node: fmt.Sprintf("n%d", k%100), Value: float64(k)}}}
				if a, err := h.Try("POST", "/v1/studies/s/observations", body); err != nil || a.Status != 201 {
					failed <- fmt.Errorf("%d %s %v", a.Status, a.Body, err)
					return
				}
			}
			failed <- nil
		}()
	}
	// Meanwhile somebody uses the page.
	for _, view := range []string{"values", "progress", "map"} {
		look.click("#tab-" + view)
		look.waitFor(".view > *")
	}
	for range clients {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	last := tells + 2 // created, and the first five
	log.wait(fmt.Sprintf(`document.querySelector(".log .seq")?.innerText === "%d"`, last))
	if rows := log.count(".log li"); rows > 300 {
		t.Errorf("%d rows", rows)
	}
	look.wait(fmt.Sprintf(`document.querySelector("#map").dataset.seq === "%d"`, last))
	look.waitText(".study-facts", fmt.Sprintf("%d,%03d", (tells+5)/1000, (tells+5)%1000))
	log.shoot("flood")
}
