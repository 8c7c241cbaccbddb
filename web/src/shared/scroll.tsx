import type { ComponentChildren } from "preact";

/** What may be wider than the screen. It takes the focus, so that arrow keys can move it. */
export function Scroll(props: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: sections are the cards of a page
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without a focus, no key scrolls it
    <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
      {props.children}
    </div>
  );
}
