// @ts-check
// TrialCard is a node to measure: where it is, what is expected, and the field for its result.
// It stays as long as somebody types in it, whatever others do meanwhile, and tells what they
// did.

import { get, post, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { draft, keepDraft } from "./drafts.js";
import { number, rate, resultText, withUnit } from "./format.js";
import { accept, busy, complain, refuse, say } from "./notice.js";
import { endedWords, placeOf, rangeWords, slipWords, untilWords } from "./card-words.js";
import { person } from "./person.js";
import { resultInput } from "./label.js";
import { reach } from "./reach.js";
import { may } from "./role.js";
import { canUndo, outbox, undo } from "./sending.js";
import { questionOf } from "./slips.js";

const reasons = ["no access", "not found", "broken", "nobody there"];

export class TrialCard {
  // tidy is called when the card may no longer be needed, sweep when the user has dealt with
  // it, and onShow to show its node.
  constructor(context, trial, { tidy, sweep, onShow }) {
    this.context = context;
    this.trial = trial;
    this.tidy = tidy;
    this.sweep = sweep;
    this.resting = false; // nobody needs it: it tells how it ended, in a line
    this.onShow = onShow;
    this.id = trial.trial;
    this.mayMeasure = may(context.meta, "measure");
    this.element = h("li", { class: "card trial", id: `trial-${this.id}`, tabindex: "-1", "data-node": trial.node, onfocusout: () => setTimeout(tidy) });
    this.head = h("h3", null);
    this.why = h("p", { class: "why" });
    this.expected = h("p", { class: "expected" });
    this.facts = h("p", { class: "facts soft" });
    this.told = h("p", { class: "told", role: "status" });
    this.choices = h("p", { class: "actions resolutions" });
    this.question = h("div", { class: "question", role: "alert", hidden: true });
    this.done = h("div", { class: "settled-note", role: "status", tabindex: "-1", hidden: true });
    this.build();
    this.update({ trial });
  }

  get settings() {
    return this.context.study.settings;
  }

  get name() {
    return this.trial.label || this.trial.node;
  }

  get mine() {
    return (this.trial.holder ?? "") === person();
  }

  build() {
    const { trial } = this;
    show(this.element,
      h("div", { class: "between" }, this.head, h("span", { class: "soft" }, this.mine ? "yours" : trial.holder ? `reserved by ${trial.holder}` : "reserved without a name")),
      this.placeLine(),
      this.why, this.expected,
      this.facts, this.told, this.choices,
      this.mayMeasure && this.controls(), this.done);
  }

  placeLine() {
    const drawn = this.context.study.graph?.coordinates === "layout"; // places that only the drawing has
    const place = drawn ? null : placeOf(this.trial);
    const showing = this.onShow && h("button", { type: "button", class: "link", onclick: () => this.onShow(this.trial.node), "aria-label": `Show ${this.name} on the map` }, "show on the map");
    if (!place && !showing && !this.trial.label) return null;
    const parts = [this.trial.label && h("span", { class: "id" }, this.trial.node), place && h("span", null, place.text), place?.href && h("a", { href: place.href }, "open in maps"), showing];
    return h("p", { class: "place soft" }, parts);
  }

  controls() {
    const at = `at ${this.name}`;
    this.input = resultInput(`value-${this.id}`, "Result", this.context.study, { about: at, typed: () => this.typed() });
    this.note = h("input", { id: `note-${this.id}`, autocomplete: "off", maxlength: 500, placeholder: "Note", "aria-label": `Note on the result ${at}`, oninput: () => this.typed(), hidden: true });
    this.save = h("button", { class: "primary", "aria-label": `Save the result ${at}` }, "Save");
    const button = (text, act) => h("button", { type: "button", "aria-label": `${text} (${this.name})`, onclick: act }, text);
    this.noting = button("Note …", () => { this.openNote(); this.note.focus(); });
    this.form = h("form", { class: "result", onsubmit: (event) => { event.preventDefault(); this.enter(); } },
      h("div", { class: "inline" }, this.input.fields, this.save), this.note);
    this.actions = h("p", { class: "actions" }, this.noting,
      button("Could not measure …", () => this.askReason()),
      button("Give back", () => this.guarded("Give it back", () => this.put("release", {}))));
    const kept = draft(this.context.name, `trial-${this.id}`);
    if (kept) this.fill(kept);
    return [this.form, this.question, this.actions];
  }

  openNote() {
    this.note.hidden = false;
    this.noting.hidden = true;
  }

  fill(texts) {
    this.input.fill(texts);
    this.note.value = texts.note ?? "";
    if (this.note.value !== "") this.openNote();
  }

  texts() {
    return { ...this.input.texts(), note: this.note.value };
  }

  // typed keeps what is typed, and takes a question away that was about something else.
  typed() {
    this.ask(null);
    keepDraft(this.context.name, `trial-${this.id}`, this.isEmpty() ? null : this.texts());
    this.tell();
  }

  isEmpty() {
    return !this.mayMeasure || (this.input.isEmpty() && this.note.value.trim() === "");
  }

  // isNeeded reports whether the card must stay, although its node is reserved no more.
  isNeeded() {
    return this.element.contains(document.activeElement) || !this.isEmpty() || this.entries().length > 0;
  }

  // entries are those of the outbox that the card shows.
  entries() {
    const undoing = this.done.contains(document.activeElement) && document.activeElement !== this.done;
    return outbox.of(this.context.name, this.id).filter((e) => e.state === "refused" || (e.what !== "reopen" && (e.state === "waiting" || canUndo(e) || undoing)));
  }

  // update shows what is known now: of the trial, and of the outbox.
  update({ trial = this.trial, number: place = this.number, asOf = this.asOf ?? 0 } = {}) {
    this.asOf = asOf;
    if (this.number !== place || this.drawnName !== this.name) {
      this.number = place;
      this.drawnName = this.name;
      show(this.head, place ? h("b", { class: "number" }, `${place} · `) : null, h("span", { class: "id" }, this.name));
    }
    if (trial.state !== this.trial.state || trial.until !== this.trial.until) this.drawnFacts = null;
    // What was heard before a trial was reopened is out of date.
    const reopening = outbox.of(this.context.name, this.id).some((e) => e.what === "reopen" && (e.state === "waiting" || (e.state === "sent" && e.sentAt > this.asOf)));
    this.trial = reopening ? { ...trial, state: "pending" } : trial;
    this.showReason();
    this.showFacts();
    this.tell();
  }

  // showReason tells why to measure here, and what to expect. Both change as the model learns.
  showReason() {
    const { why, state } = this.trial;
    if (state !== "pending" && this.why.textContent !== "") return;
    const range = rangeWords(this.trial, this.settings);
    if (this.why.textContent !== (why ?? "")) show(this.why, why);
    if (this.expected.textContent !== (range ?? "")) show(this.expected, range);
  }

  showFacts() {
    const words = this.trial.state === "pending" ? untilWords(this.trial.until) : "";
    if (this.drawnFacts === words) return;
    this.drawnFacts = words;
    const extend = h("button", { type: "button", class: "link", "aria-label": `Keep ${this.name} reserved for longer`, onclick: () => busy(extend, () => this.extend()) }, "keep it longer");
    show(this.facts, words && h("span", null, words), words && this.mayMeasure && extend, this.trial.cost !== 1 && h("span", null, `cost ${number(this.trial.cost)}`));
  }

  // tell shows what happened to the trial and to what was entered.
  tell() {
    if (!this.mayMeasure) return this.write(this.told, endedWords(this.trial, this.context.study, this.settings));
    const last = this.entries().at(-1);
    const active = last !== undefined && last.state !== "refused";
    if (last) this.lastEntry = last.state === "sent" ? last : undefined;
    const settled = active || this.resting;
    if (last?.state === "refused") this.giveBackTexts(last);
    this.element.classList.toggle("settled", settled);
    for (const part of [this.form, this.actions]) part.hidden = settled;
    if (settled) this.ask(null);
    this.settle(settled, active ? last : this.lastEntry);
    const ended = settled ? "" : endedWords(this.trial, this.context.study, this.settings);
    const told = last?.what === "result" && this.trial.state !== "pending"; // by the words on how it ended
    const problem = last?.state === "refused" && !told ? `Not accepted. ${last.problem.detail || last.problem.title}` : "";
    this.write(this.told, [ended, problem].filter(Boolean).join(" "));
    this.offer(settled ? [] : this.resolutions());
  }

  // giveBackTexts puts what was refused back into the field, once.
  giveBackTexts(entry) {
    if (this.returned === entry.id) return;
    this.returned = entry.id;
    if (!entry.texts || !this.isEmpty()) return;
    this.fill(entry.texts);
    keepDraft(this.context.name, `trial-${this.id}`, this.texts());
  }

  // write changes a text only if it differs: screen readers read it again otherwise.
  write(element, text) {
    element.hidden = text === "";
    if (element.textContent !== text) element.textContent = text;
  }

  // settle shows what was saved, with the way back as long as there is one, or how the trial
  // ended without.
  settle(settled, entry) {
    this.done.hidden = !settled;
    if (!settled) return;
    const words = entry ? this.entryWords(entry) : endedWords(this.trial, {}, this.settings);
    const way = entry !== undefined && canUndo(entry);
    const key = `${words} ${way}`;
    if (this.drawnEntry === key) return;
    this.drawnEntry = key;
    const back = way && h("button", { type: "button", "aria-label": `Undo at ${this.name}`, onclick: () => busy(back, () => this.undo(entry)) }, entry.state === "waiting" && entry.what === "result" ? "Change it" : "Undo");
    const had = this.done.contains(document.activeElement);
    show(this.done, h("p", null, words), back);
    if (had) this.done.focus();
  }

  entryWords(entry) {
    const sent = entry.state === "sent";
    const what = {
      result: () => (entry.body.failed ? "Marked as not measured" : `${this.resultText(entry.body)} ${sent ? "saved" : "entered"}`),
      reading: () => `${this.resultText(entry.body)} ${sent ? "saved" : "entered"} as a second reading`,
      abandon: () => "Never to be suggested again",
      release: () => "Given back",
    }[entry.what]();
    const since = sent && this.trial.state === "retracted" ? ` ${endedWords(this.trial, {}, this.settings)}` : "";
    return `${what}${entry.body.note ? `: ${entry.body.note}` : ""}${sent ? (entry.answer.late ? ", after the reservation had ended." : ".") : reach.up ? " …" : ". Kept in this browser until it is sent."}${since}`;
  }

  resultText(result) {
    return withUnit(resultText(result, this.settings), this.settings);
  }

  async undo(entry) {
    await undo(entry, person());
    this.lastEntry = undefined;
    this.update({ trial: { ...this.trial, state: "pending" } });
    if (entry.texts && this.isEmpty()) {
      this.fill(entry.texts);
      this.typed();
    }
    this.tell();
    this.input.value.focus();
  }

  // resolutions are what can be done with what is typed, if the trial has ended.
  resolutions() {
    const { state, by } = this.trial;
    const discard = ["Discard mine", () => this.discard()];
    const second = [`Add ${this.input?.value.value.trim()} as a second reading`, () => this.second()];
    if (this.isEmpty()) return this.entries().some((e) => e.state === "refused") ? [["Dismiss", () => this.discard()]] : [];
    if (state === "done" && (by ?? "") === person() && by) return [["Replace it with mine", () => this.replace()], second, discard];
    if (state === "done" || state === "failed" || state === "retracted") return [second, discard];
    return state === "pending" ? [] : [discard];
  }

  offer(resolutions) {
    const key = resolutions.map(([text]) => text).join();
    this.choices.hidden = key === "";
    if (this.mayMeasure) this.save.hidden = resolutions.length > 1;
    if (this.drawnOffer === key) return;
    this.drawnOffer = key;
    show(this.choices, resolutions.map(([text, act]) => h("button", { type: "button", "aria-label": `${text} (${this.name})`, onclick: act }, text)));
  }

  discard() {
    for (const entry of this.entries()) if (entry.state === "refused") outbox.drop(entry.id);
    this.clear();
    this.tidy();
    document.getElementById("main")?.focus({ preventScroll: true }); // never another field
  }

  clear() {
    this.input.clear();
    this.note.value = "";
    accept(this.input.value);
    keepDraft(this.context.name, `trial-${this.id}`, null);
    this.ask(null);
  }

  // read returns what is typed, or says what is wrong with it.
  read() {
    try {
      return this.input.read();
    } catch (error) {
      refuse(this.input.at, error);
      return null;
    }
  }

  // enter saves what is typed, after the questions that it raises.
  enter() {
    if (this.resolutions().length > 1) return refuse(this.input.value, { title: "This node has a result by now. Add yours as a second reading, or discard it" });
    const result = this.read();
    if (!result) return;
    const doubt = questionOf(rate(result), this.trial);
    if (!doubt) return this.guarded(`Save ${this.resultText(result)}`, () => this.put("result", result));
    const likely = doubt.likely !== null && !result.exposure;
    this.ask(slipWords(this.input.value.value.trim(), doubt, likely, this.settings), [
      likely && [`Use ${doubt.likely}`, () => { this.input.fill({ value: doubt.likely }); this.typed(); this.guarded(`Save ${doubt.likely}`, () => this.put("result", this.input.read())); }],
      [`Save ${this.input.value.value.trim()}`, () => this.guarded(`Save ${this.resultText(result)}`, () => this.put("result", result))],
    ]);
  }

  // guarded asks before somebody else's node is dealt with.
  guarded(what, act) {
    if (this.mine) return act();
    const owner = this.trial.holder || "somebody without a name";
    this.ask(`This node is reserved by ${owner}. ${what} all the same?`, [[what, act], ["Leave it", () => this.ask(null)]]);
  }

  // ask shows a question with answers; null takes it away.
  ask(text, answers = []) {
    if (!this.mayMeasure) return;
    this.question.hidden = text === null;
    if (text === null) return this.question.replaceChildren();
    const buttons = answers.filter(Boolean).map(([label, act]) => h("button", { type: "button", onclick: () => { this.ask(null); act(); } }, label));
    show(this.question, h("p", null, text), h("p", { class: "actions" }, buttons));
  }

  // askReason asks why a node could not be measured, and what that means for later.
  askReason() {
    const text = h("input", { id: `reason-${this.id}`, autocomplete: "off", maxlength: 500, "aria-label": `Why ${this.name} could not be measured`, placeholder: "Why? For example: gate locked" });
    const chips = reasons.map((reason) => h("button", { type: "button", class: "chip", onclick: () => { text.value = reason; } }, reason));
    const choose = (label, what, body) => h("button", { type: "button", onclick: () => {
      const note = text.value.trim();
      if (note === "") return refuse(text, { title: "Say why, in a word or two" });
      this.ask(null);
      this.guarded(label, () => this.put(what, { ...body, note }));
    } }, label);
    this.question.hidden = false;
    show(this.question,
      h("div", { class: "field" }, h("p", null, "Why could it not be measured?"), text, h("p", { class: "actions" }, chips)),
      h("p", { class: "actions" },
        choose("Not today", "result", { failed: true }),
        choose("Never suggest it again", "abandon", {}),
        h("button", { type: "button", onclick: () => this.ask(null) }, "Cancel")));
    text.focus();
  }

  // put gives something to the outbox. The card shows it from then on.
  put(what, body) {
    this.sweep();
    for (const entry of this.entries()) if (entry.state === "refused") outbox.drop(entry.id);
    const texts = this.texts();
    const note = this.note.value.trim();
    outbox.add({ study: this.context.name, what, trial: this.id, node: this.trial.node, texts: this.isEmpty() ? null : texts, body: { ...(note ? { note } : {}), ...body, by: person() } });
    this.clear();
    this.tell();
    this.done.focus({ preventScroll: true }); // what is typed on must land nowhere
  }

  second() {
    const result = this.read();
    if (result) this.put("reading", result);
  }

  // replace takes the saved value back, and saves what is typed.
  replace() {
    const result = this.read();
    if (!result) return;
    outbox.add({ study: this.context.name, what: "reopen", trial: this.id, node: this.trial.node, body: { by: person() } });
    this.put("result", result);
  }

  async extend() {
    try {
      this.update({ trial: { ...this.trial, ...(await post(studyPath(this.context.name, "trials", this.id, "lease"), { by: person() })) } });
      say(`${this.name} stays reserved: ${untilWords(this.trial.until)}.`);
    } catch (error) {
      complain(error);
    }
  }

  // rest makes the card a line that tells how it ended, or a card again.
  rest(resting) {
    if (this.resting === resting) return;
    this.resting = resting;
    this.tell();
  }

  // refetch asks what became of a trial that is pending no more.
  async refetch(signal) {
    this.ended = true;
    const asOf = Date.now();
    const trial = await get(studyPath(this.context.name, "trials", this.id), { signal });
    this.update({ asOf, trial: { ...this.trial, value: undefined, by: undefined, note: undefined, ...trial } });
  }
}
