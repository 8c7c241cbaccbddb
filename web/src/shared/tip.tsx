import type { ComponentChildren } from "preact";

/** One box for all tooltips: whatever has `data-tip` shows it under the pointer or the focus. */
export function startTips(): void {
  const box = document.createElement("div");
  box.className = "tip-box";
  box.setAttribute("role", "tooltip");
  box.hidden = true;
  document.body.append(box);

  const show = (target: Element) => {
    box.textContent = target.getAttribute("data-tip");
    box.hidden = false;
    const around = target.getBoundingClientRect();
    const own = box.getBoundingClientRect();
    const left = Math.min(Math.max(8, around.left), window.innerWidth - own.width - 8);
    const below = around.bottom + 6;
    const top = below + own.height > window.innerHeight ? around.top - own.height - 6 : below;
    box.style.left = `${Math.max(8, left)}px`;
    box.style.top = `${Math.max(8, top)}px`;
  };
  const look = (event: Event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    if (target) show(target);
    else box.hidden = true;
  };
  document.addEventListener("mouseover", look);
  document.addEventListener("focusin", look);
  document.addEventListener("click", look);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") box.hidden = true;
  });
  window.addEventListener("scroll", () => {
    // Taking the focus may scroll: then the box goes along.
    const focused = document.activeElement?.closest("[data-tip]");
    if (focused && !box.hidden) show(focused);
    else box.hidden = true;
  });
}

/** A word that can be asked what it means, with the keyboard, too. */
export function Term(props: { tip: string; children: ComponentChildren }) {
  return (
    <button type="button" class="term" data-tip={props.tip}>
      {props.children}
      <span class="hidden">: {props.tip}</span>
    </button>
  );
}
