import { signal } from "@preact/signals";
import { harmless } from "../shared/harmless";
import { decoded } from "./ask_server";

export const views = ["Now", "Why", "What if", "Look back"];
export const view = signal(0);
/** KIND/NAMESPACE/NAME whose history is shown. */
export const subject = signal("");

function readAddress(): void {
  const found = /^#why=(.+)$/.exec(location.hash);
  if (!found) return;
  subject.value = harmless(decoded(found[1] ?? ""));
  view.value = 1;
}
readAddress();
window.addEventListener("hashchange", readAddress);

export function showWhy(object: string): void {
  location.hash = `why=${encodeURIComponent(object)}`;
  subject.value = object;
  view.value = 1;
  window.scrollTo(0, 0);
}

/** "Pod shop/web" is asked for as "Pod/shop/web", and so is "shop/web of plane east". */
export function objectOf(text: string): string {
  const name = text.replace(/ of plane .*$/, "");
  const space = name.indexOf(" ");
  return space < 0 ? `Pod/${name}` : `${name.slice(0, space)}/${name.slice(space + 1)}`;
}

/** A name that links to its history. */
export function Named(props: { object: string; text: string }) {
  return (
    <button type="button" class="open named" onClick={() => showWhy(props.object)}>
      {props.text}
    </button>
  );
}
