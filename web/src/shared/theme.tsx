import { signal } from "@preact/signals";

type Theme = "light" | "dark";

const wanted = window.matchMedia("(prefers-color-scheme: dark)");

export const theme = signal<Theme>(wanted.matches ? "dark" : "light");
wanted.addEventListener("change", () => {
  theme.value = wanted.matches ? "dark" : "light";
});
theme.subscribe((value) => {
  document.documentElement.dataset.theme = value;
});

/** What a colour of the style sheet is now, for canvases, which know no variables. */
export function colour(name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

export function ThemeButton() {
  const next: Theme = theme.value === "dark" ? "light" : "dark";
  return (
    <button
      type="button"
      class="theme"
      onClick={() => {
        theme.value = next;
      }}
    >
      {next === "dark" ? "Dark" : "Light"}
    </button>
  );
}
