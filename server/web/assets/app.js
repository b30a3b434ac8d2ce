// @ts-check
// The page: which part of it is shown, by the address.

import { get } from "./api.js";
import { comparePage } from "./compare.js";
import { h, show } from "./dom.js";
import { wordsOf } from "./notice.js";
import { signAs } from "./person.js";
import { here } from "./route.js";
import { startPage } from "./start.js";
import { keepPage, reloadIfOutdated } from "./offline.js";
import { sendingBadge, startSending } from "./sending.js";
import { studiesPage } from "./studies.js";
import { StudyPage } from "./study.js";
import { takeToken } from "./token.js";

const main = document.getElementById("main");
let meta = null;
let open = null; // the study that is shown
let turn = 0; // only the last of quick changes counts

async function turnTo() {
  const mine = ++turn;
  if (takeToken()) meta = null;
  const [kind, name, view] = here();
  if (open && !(kind === "studies" && name === open.name)) {
    open.close();
    open = null;
  }
  try {
    meta ??= await get("/v1/meta");
    signAs(meta.name);
    if (kind === "studies" && name !== undefined) {
      const fresh = open === null;
      open ??= new StudyPage(meta, name);
      await open.open(view);
      if (fresh && mine === turn) show(main, open.element);
      return;
    }
    const page = await (kind === "new" ? startPage(meta) : kind === "compare" ? comparePage(name, view) : studiesPage(meta));
    if (mine === turn) show(main, page);
  } catch (error) {
    if (mine !== turn) return;
    const { title, text } = wordsOf(error);
    open?.close();
    open = null;
    show(main, h("section", { class: "card" },
      h("h1", null, title),
      h("p", { role: "alert" }, text),
      h("p", { class: "actions" }, h("button", { type: "button", class: "primary", onclick: turnTo }, "Try again"), h("a", { class: "button", href: "#/" }, "All studies"))));
  }
}

// A new page is read from its top, by eyes and by screen readers.
async function turned() {
  if (reloadIfOutdated()) return;
  const before = document.title;
  await turnTo();
  if (document.title === before) return;
  window.scrollTo(0, 0);
  if (document.activeElement === document.body) main.focus({ preventScroll: true });
}

window.addEventListener("hashchange", turned);
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.querySelector(".top").append(...sendingBadge());
keepPage(() => get("/v1/meta").then(() => open?.refresh(), () => {}));
startSending();
turnTo();
