import type { Signal } from "@preact/signals";

/** One of a few: radio buttons that look like tabs. Arrow keys move, as in every radio group. */
export function Choice(props: { label: string; names: string[]; value: Signal<number> }) {
  return (
    <fieldset class="choice">
      <legend>{props.label}</legend>
      {props.names.map((name, at) => (
        <label key={name} class={props.value.value === at ? "chosen" : ""}>
          <input
            type="radio"
            name={props.label}
            checked={props.value.value === at}
            onChange={() => {
              props.value.value = at;
            }}
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
