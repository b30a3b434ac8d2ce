// TrialCard is a pending trial: its prediction, and the commands on it.

import { post, put, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { number, resultText, until } from "./format.js";
import { busy, complain, refuse, say } from "./notice.js";
import { person } from "./person.js";
import { ResultInput } from "./result.js";
import { may } from "./role.js";

export class TrialCard {
  constructor(context, trial) {
    this.context = context;
    this.lease = h("span", { class: "soft" });
    this.element = h("li", { class: "card trial", id: `trial-${trial.trial}`, tabindex: "-1", "data-node": trial.node });
    this.build(trial);
    this.update(trial);
  }

  build(trial) {
    const expected = trial.mean === undefined ? "" : `predicted ${number(trial.mean)} ± ${number(2 * trial.sd, 2)}`;
    show(this.element,
      h("div", { class: "between" },
        h("h3", { class: "id" }, trial.node),
        h("span", { class: "soft" }, `trial ${trial.trial}`)),
      h("p", { class: "why" }, trial.why),
      h("p", { class: "facts" },
        expected && h("span", null, expected),
        trial.cost !== 1 && h("span", null, `cost ${number(trial.cost)}`),
        trial.holder && h("span", null, `reserved by ${trial.holder}`),
        this.lease),
      may(this.context.meta, "measure") ? this.controls(trial) : null);
  }

  controls(trial) {
    const input = new ResultInput(`value-${trial.trial}`, "Result", this.context.study.settings);
    const save = h("button", { class: "primary" }, "Save");
    const button = (text, title, path, done) => {
      const b = h("button", { type: "button", title, "aria-label": `${text} ${trial.node}`, onclick: () => busy(b, () => this.act(trial, path, done)) }, text);
      return b;
    };
    const failed = h("button", { type: "button", title: "It could not be measured; the node may be suggested again later", "aria-label": `Failed: ${trial.node}`,
      onclick: () => busy(failed, () => this.result(trial, { failed: true }, `${trial.node} is marked as failed.`, failed)) }, "Failed");
    return [
      h("form", { class: "inline", onsubmit: (e) => { e.preventDefault(); busy(save, () => this.enter(trial, input)); } },
        input.fields, save),
      h("p", { class: "actions" }, failed,
        button("Extend", "Reserve it for another lease", "lease", `${trial.node} stays reserved.`),
        button("Release", "Release the node; it may be suggested again", "release", `${trial.node} is released.`),
        button("Abandon", "This node cannot be measured; never suggest it again", "abandon", `${trial.node} is abandoned and never suggested again.`)),
    ];
  }

  // update shows when the lease ends.
  update(trial) {
    show(this.lease, `lease ends ${until(trial.until)}`);
  }

  async enter(trial, input) {
    let result;
    try {
      result = input.read();
    } catch (error) {
      refuse(input.at, error);
      return;
    }
    await this.result(trial, result, `${resultText(result, this.context.study.settings)} at ${trial.node} is saved.`, input.at);
  }

  async result(trial, outcome, done, control) {
    try {
      const told = await put(studyPath(this.context.name, "trials", trial.trial, "result"), { ...outcome, by: person() });
      say(told.late ? `${done} It is accepted, although the lease had ended.` : done);
      this.context.changed();
    } catch (error) {
      if (control.tagName === "INPUT") refuse(control, error);
      else complain(error);
    }
  }

  async act(trial, path, done) {
    try {
      await post(studyPath(this.context.name, "trials", trial.trial, path), { by: person() });
      say(done);
      this.context.changed();
    } catch (error) {
      complain(error);
    }
  }
}
