// @ts-check
// ReadingForm takes a measurement of a node that is not reserved: typed text is kept, far values
// are asked about, and what is saved goes through the outbox and can be undone.

import { slipWords } from "./card-words.js";
import { h, show } from "./dom.js";
import { draft, keepDraft } from "./drafts.js";
import { rate, resultText, withUnit } from "./format.js";
import { resultInput } from "./label.js";
import { accept, busy, refuse } from "./notice.js";
import { person } from "./person.js";
import { reach } from "./reach.js";
import { canUndo, onOutbox, outbox, undo } from "./sending.js";
import { questionOf } from "./slips.js";

export class ReadingForm {
  // expected returns the range that is expected at the node, as questionOf wants it.
  constructor(context, node, expected) {
    this.context = context;
    this.node = node;
    this.expected = expected;
    this.input = resultInput("node-value", this.settings.labels ? "Class of this node" : "Measurement at this node", context.study, { typed: () => this.typed() });
    this.question = h("div", { class: "question", role: "alert", hidden: true });
    this.saved = h("div", { class: "saved-reading", role: "status" });
    this.element = h("div", null,
      h("form", { class: "inline", onsubmit: (event) => { event.preventDefault(); this.enter(); } }, this.input.fields, h("button", { class: "primary" }, "Save")),
      this.question, this.saved);
    this.input.fill(draft(context.name, this.part) ?? {});
    this.endWatch = onOutbox(() => this.tell());
    this.tell();
  }

  get settings() {
    return this.context.study.settings;
  }

  get part() {
    return `node-${this.node}`;
  }

  typed() {
    this.ask(null);
    keepDraft(this.context.name, this.part, this.input.isEmpty() ? null : this.input.texts());
  }

  // enter saves what is typed, after the question that it raises.
  enter() {
    let result;
    try {
      result = this.input.read();
    } catch (error) {
      refuse(this.input.at, error);
      return;
    }
    const doubt = this.settings.labels ? null : questionOf(rate(result), this.expected());
    if (!doubt) return this.save(result);
    const typed = this.input.value.value.trim();
    const likely = doubt.likely !== null && !result.exposure;
    this.ask(slipWords(typed, doubt, likely, this.settings), [
      likely && [`Use ${doubt.likely}`, () => { this.input.fill({ value: doubt.likely ?? "" }); this.save(this.input.read()); }],
      [`Save ${typed}`, () => this.save(result)],
    ]);
  }

  // ask shows a question with answers; null takes it away.
  ask(text, answers = []) {
    this.question.hidden = text === null;
    const buttons = answers.filter(Boolean).map(([label, act]) => h("button", { type: "button", onclick: () => { this.ask(null); act(); } }, label));
    show(this.question, text && [h("p", null, text), h("p", { class: "actions" }, buttons)]);
  }

  save(result) {
    outbox.add({ study: this.context.name, what: "reading", node: this.node, texts: this.input.texts(), body: { ...result, by: person() } });
    this.input.clear();
    accept(this.input.value);
    this.typed();
    this.tell();
  }

  // last is the newest entry of the outbox about this node that still matters here.
  last() {
    const own = outbox.of(this.context.name).filter((e) => e.what === "reading" && e.trial === undefined && e.node === this.node);
    return own.filter((e) => e.state !== "sent" || canUndo(e)).at(-1);
  }

  // isNeeded reports whether something is typed, or can still be undone.
  isNeeded() {
    return !this.input.isEmpty() || this.last() !== undefined;
  }

  // tell says what became of what was saved, with the way back as long as there is one.
  tell() {
    const entry = this.last();
    clearTimeout(this.again);
    if (entry && entry.state !== "refused") this.again = setTimeout(() => this.tell(), 1000); // it may be sent, and the way back ends
    const words = entry ? this.wordsOf(entry) : "";
    if (this.shown === words) return;
    this.shown = words;
    const back = entry && h("button", { type: "button", id: "undo-reading", onclick: () => busy(back, () => this.takeBack(entry)) }, entry.state === "refused" ? "Change it" : "Undo");
    show(this.saved, entry && [h("p", { class: entry.state === "refused" ? "refusal" : null }, words), h("p", null, back)]);
  }

  wordsOf(entry) {
    const what = withUnit(resultText(entry.body, this.settings), this.settings);
    if (entry.state === "refused") return `${what} was not accepted. ${entry.problem.detail || entry.problem.title}`;
    return entry.state === "sent" ? `${what} saved.` : `${what} entered${reach.up ? " …" : ". Kept in this browser until it is sent."}`;
  }

  // takeBack undoes an entry, and puts its text back into the field.
  async takeBack(entry) {
    if (entry.state === "refused") outbox.drop(entry.id);
    else await undo(entry, person());
    if (this.input.isEmpty()) this.input.fill(entry.texts);
    this.typed();
    this.tell();
    this.input.value.focus();
  }

  close() {
    clearTimeout(this.again);
    this.endWatch();
  }
}
