import { signal } from "@preact/signals";

export const views = ["Now", "Why", "What if", "Look back"];
export const view = signal(0);
/** KIND/NAMESPACE/NAME whose story is told. */
export const subject = signal("");

function readAddress(): void {
  const found = /^#why=(.+)$/.exec(location.hash);
  if (!found) return;
  subject.value = decodeURIComponent(found[1] ?? "");
  view.value = 1;
}
readAddress();
window.addEventListener("hashchange", readAddress);

export function tellWhy(object: string): void {
  location.hash = `why=${encodeURIComponent(object)}`;
  subject.value = object;
  view.value = 1;
  window.scrollTo(0, 0);
}

/** "Pod shop/web" is asked for as "Pod/shop/web". */
export function objectOf(text: string): string {
  const space = text.indexOf(" ");
  return space < 0 ? `Pod/${text}` : `${text.slice(0, space)}/${text.slice(space + 1)}`;
}

/** A name that leads to its story. */
export function Named(props: { object: string; text: string }) {
  return (
    <button type="button" class="open named" onClick={() => tellWhy(props.object)}>
      {props.text}
    </button>
  );
}
