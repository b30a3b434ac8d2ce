package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/study"
)

// Races: anna and ben are two people, each with a browser of their own.

// Whatever was typed at a card stays at that card: another's save takes neither the text nor
// the cursor, and what is typed on lands nowhere else.
func TestSavedByAnother(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "ben", 3)
	anna, ben := worker(t, h.HTTP.URL, "anna"), worker(t, h.HTTP.URL, "ben")
	ben.waitFor("#value-2")
	ben.click("#value-2")
	ben.press("3")
	anna.waitFor("#value-2")
	anna.click(".others summary")
	anna.enter("#value-2", "35.5\r")
	anna.waitText("#trial-2", "reserved by ben. Save 35.5 all the same?")
	anna.click("#trial-2 .question button")
	anna.waitText("#trial-2", "35.5 saved")
	ben.waitText("#trial-2", "Saved by anna: 35.5.")
	ben.isAt(2, "3")
	ben.press("3\r")
	ben.isAt(2, "33")
	ben.waitText("#trial-2", "Add yours as a second reading, or discard it")
	ben.shoot("field-conflict")
	if got := records(h); len(got) != 1 || got[0].Value != 35.5 || got[0].Trial != 2 {
		t.Fatalf("%+v", got)
	}
	ben.click("#trial-2 .resolutions button")
	ben.waitText("#trial-2", "33 saved as a second reading")
	if got := records(h); len(got) != 2 || got[1].Value != 33 || got[1].Node != got[0].Node || got[1].By != "ben" {
		t.Fatalf("%+v", got)
	}

	// Both save at once: the answer to the later one is a conflict, and its text comes back.
	ben.click("#value-1")
	ben.press("12")
	h.Must("PUT", "/v1/studies/s/trials/1/result", map[string]any{"value": 11, "by": "anna"}, nil)
	ben.expect("409")
	eval[bool](ben, `document.querySelector("#trial-1 form").requestSubmit() ?? true`)
	ben.waitText("#trial-1", "Saved by anna: 11.")
	ben.wait(`document.querySelector("#value-1").value === "12"`)
	ben.click("#trial-1 .resolutions button:last-child")
	ben.waitText("#trial-1.settled", "Saved by anna: 11.")
	if got := records(h); len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	if at := eval[string](ben, "document.activeElement.id"); strings.HasPrefix(at, "value-") {
		t.Errorf("the cursor went on to %s", at)
	}
}

// A lease that ends takes nothing away, also if somebody else takes the node: the result is saved
// late, and the other's card stays as it is.
func TestLeaseEnds(t *testing.T) {
	inBrowser(t)
	now := servertest.NewClock(time.Now())
	h := servertest.New(t, func(o *server.Options) { o.Now, o.NewEngine = now.Now, newGuileless })
	h.Create(30)
	h.Observe(three)
	h.Must("POST", "/v1/studies/s/asks", map[string]any{"count": 2, "holder": "ben"}, nil)
	anna, ben := worker(t, h.HTTP.URL, "anna"), worker(t, h.HTTP.URL, "ben")
	ben.waitFor("#value-1")
	ben.click("#value-1")
	ben.press("4")
	ben.waitText("#trial-1", "reserved until")
	now.Pass(25 * time.Hour)
	anna.take(trialOf(h, 1).Node)
	anna.waitText("#trial-3", "yours")
	ben.waitText("#trial-1", "The reservation has ended. Your result still counts.")
	ben.waitText("#trial-2.settled", "The reservation has ended.")
	ben.isAt(1, "4")
	ben.press("2\r")
	ben.waitText("#trial-1", "42 saved, after the reservation had ended")
	if got := records(h); len(got) != 1 || got[0].Value != 42 || got[0].Trial != 1 || got[0].By != "ben" {
		t.Fatalf("%+v", got)
	}
	anna.enter("#value-3", "43\r")
	anna.waitText("#trial-3", "43 saved")
}

// take reserves a node of one's own choice.
func (p *tab) take(node string) {
	p.t.Helper()
	p.unfold(".other-ways")
	p.enter("#ask-node", node)
	p.click("#ask-own")
}

// could says at somebody else's card why a node was not measured, with the first or the second
// choice, and confirms it.
func (p *tab) could(trial int, reason, choice string) {
	p.t.Helper()
	card := fmt.Sprintf("#trial-%d", trial)
	p.click(card + ` button[aria-label^="Could not"]`)
	p.enter(fmt.Sprintf("#reason-%d", trial), reason)
	p.click(card + " .question > .actions button:nth-child(" + choice + ")")
	p.waitText(card+" .question", "reserved by")
	p.click(card + " .question button:first-child")
}

// confirmed saves a value at somebody else's card.
func (p *tab) confirmed(trial int, value string) {
	p.t.Helper()
	card := fmt.Sprintf("#trial-%d", trial)
	p.enter(fmt.Sprintf("#value-%d", trial), value+"\r")
	p.waitText(card+" .question", "reserved by")
	p.click(card + " .question button:first-child")
	p.waitText(card, value+" saved")
}

// What others do to a node is told in words, at the card, and the value still counts.
func TestEndedByAnother(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "ben", 4)
	anna, ben := worker(t, h.HTTP.URL, "anna"), worker(t, h.HTTP.URL, "ben")
	anna.waitFor("#value-4")
	anna.click(".others summary")
	for _, c := range []struct {
		trial int
		do    func()
		words string
	}{
		{1, func() { anna.could(1, "flooded", "2") }, "Anna marked this node as never to be measured: “flooded”. Your result still counts."},
		{2, func() {
			anna.click(`#trial-2 button[aria-label^="Give back"]`)
			anna.waitText("#trial-2 .question", "reserved by ben")
			anna.click("#trial-2 .question button:first-child")
		}, "Anna gave this node back. Your result still counts."},
	} {
		card, field := fmt.Sprintf("#trial-%d", c.trial), fmt.Sprintf("#value-%d", c.trial)
		ben.waitFor(field)
		ben.click(field)
		ben.press("5")
		c.do()
		ben.waitText(card, c.words)
		ben.isAt(c.trial, "5")
		ben.press(fmt.Sprintf("%d\r", c.trial))
		ben.waitText(card, fmt.Sprintf("5%d saved", c.trial))
		if got := trialOf(h, c.trial); got.State != study.TrialDone || *got.Value != float64(50+c.trial) {
			t.Errorf("%+v", got)
		}
	}
	ben.click("#value-3")
	ben.press("7")
	anna.could(3, "gate locked", "1")
	ben.waitText("#trial-3", "Anna could not measure here: “gate locked”.")
	ben.isAt(3, "7")
	ben.click("#trial-3 .resolutions button")
	ben.waitText("#trial-3", "7 saved as a second reading")

	// A cursor without a text keeps the card as well, as long as it is there.
	ben.click("#value-4")
	anna.confirmed(4, "9")
	ben.waitText("#trial-4", "Saved by anna: 9.")
	ben.isAt(4, "")
	eval[bool](ben, `document.activeElement.blur() ?? true`)
	ben.waitFor("#trial-4.settled")
}

// What another saved and took back leaves the text and the cursor where they are; a result that
// another retracted is told of, and can be entered again.
func TestReopenedByAnother(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "ben", 2)
	anna, ben := worker(t, h.HTTP.URL, "anna"), worker(t, h.HTTP.URL, "ben")
	anna.waitFor("#value-2")
	anna.click(".others summary")
	ben.waitFor("#value-1")
	ben.click("#value-1")
	ben.press("7")
	anna.confirmed(1, "9")
	ben.waitText("#trial-1", "Saved by anna: 9.")
	ben.isAt(1, "7")
	anna.click("#trial-1 .settled-note button")
	ben.wait(`!document.querySelector("#trial-1").innerText.includes("Saved by anna")`)
	ben.isAt(1, "7")
	ben.press("1\r")
	ben.waitText("#trial-1", "71 saved")
	if got := records(h); len(got) != 1 || got[0].Value != 71 || got[0].By != "ben" {
		t.Fatalf("%+v", got)
	}

	eval[bool](anna, `(window.prompt = () => "wrong node") && true`)
	anna.click("#tab-values")
	anna.click(fmt.Sprintf("#retract-%d", trialOf(h, 1).Number))
	ben.waitText("#trial-1", "The result of this node was retracted.")
	ben.click("#trial-1 .settled-note button")
	ben.isAt(1, "71")
	ben.press("\r")
	ben.waitText("#trial-1", "71 saved")
	ben.isSaved(h, 1, study.TrialDone, "")
	if got := records(h); len(got) != 1 || got[0].Value != 71 {
		t.Fatalf("%+v", got)
	}
}

// A node that another reserves while one types a measurement of it keeps the text, and takes the
// measurement; it cannot be reserved twice.
func TestReservedByAnother(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "carla", 1)
	const free = "n17"
	if trialOf(h, 1).Node == free {
		t.Fatal("the first suggestion is the node of this test")
	}
	anna, ben := worker(t, h.HTTP.URL, "anna"), worker(t, h.HTTP.URL, "ben")
	ben.enter("#find", free+"\r")
	ben.waitText(".node-panel h2", free)
	ben.enter("#node-value", "4,5")
	anna.take(free)
	anna.waitText("#trial-2", "yours")
	ben.waitText(".node-panel", "by anna")
	ben.wait(`document.activeElement.id === "node-value" && document.activeElement.value === "4,5"`)
	ben.press("\r")
	ben.waitText(".node-panel", "4.5 saved.")
	anna.waitFor("#value-2")
	if got := records(h); len(got) != 1 || got[0].Node != free || got[0].By != "ben" || trialOf(h, 2).State != study.TrialPending {
		t.Errorf("%+v", got)
	}
	ben.click(".node-panel button.quiet")
	ben.expect("409")
	ben.take(free)
	ben.waitText("#ask-node-refusal", free)
}

// A study that is closed, or archived, while somebody types tells so and keeps the text.
func TestClosedWhileTyping(t *testing.T) {
	inBrowser(t)
	h := fieldHost(t, "ben", 2)
	ben := worker(t, h.HTTP.URL, "ben")
	ben.waitFor("#value-1")
	ben.click("#value-1")
	ben.press("4")
	h.Must("POST", "/v1/studies/s/close", `{"by":"anna"}`, nil)
	ben.waitText("#trial-1", "The study is closed. Results for nodes already reserved are still taken.")
	ben.isAt(1, "4")
	ben.press("1\r")
	ben.waitText("#trial-1", "41 saved")
	ben.click("#value-2")
	ben.press("8")
	h.Must("POST", "/v1/studies/s/archive", `{"by":"anna"}`, nil)
	ben.waitText("#trial-2", "The study is archived")
	ben.isAt(2, "8")
	ben.expect("409")
	ben.press("\r")
	ben.waitText("#trial-2", "Not accepted")
	ben.wait(`document.querySelector("#value-2").value === "8"`)
	h.Must("POST", "/v1/studies/s/restore", nil, nil)
	ben.wait(`!document.querySelector("#trial-2").innerText.includes("archived:")`)
	ben.click("#trial-2 form button.primary")
	ben.waitText("#trial-2", "8 saved")
}
