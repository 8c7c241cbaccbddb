import type { ComponentChildren } from "preact";
import { ThemeButton } from "./theme";

export function Frame(props: {
  title: string;
  lead: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <>
      <header>
        <div class="head">
          <h1>{props.title}</h1>
          <ThemeButton />
        </div>
        <div class="lead">{props.lead}</div>
      </header>
      <main>{props.children}</main>
    </>
  );
}

export function Section(props: {
  id: string;
  title: string;
  lead?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section id={props.id} aria-labelledby={`${props.id}-title`}>
      <h2 id={`${props.id}-title`}>{props.title}</h2>
      {props.lead ? <p class="note">{props.lead}</p> : null}
      {props.children}
    </section>
  );
}
