import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { PlanLead, PlanSections } from "../plan/page";
import type { Plan } from "../plan/types";
import { resourceAmount } from "../shared/format";
import { Section } from "../shared/frame";
import { askJson } from "./ask_server";
import type { Facts } from "./types";

const manifest = signal("");
const preset = signal("");
/** With what of the manifest does not count. */
type Answer = Plan & { notes?: string[] };

const plan = signal<Answer | null>(null);
const error = signal("");
const isBusy = signal(false);

const example = `apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: default}
spec:
  priority: 1000
  containers:
  - name: main
    resources: {requests: {cpu: "4", memory: 8Gi}}
`;

const bytesMax = 1 << 20; // The server closes larger requests, which would look like no answer.

async function decide(): Promise<void> {
  const bytes = new Blob([manifest.value]).size;
  if (bytes > bytesMax) {
    plan.value = null;
    error.value = `The manifest has ${resourceAmount("memory", bytes)}, and at most ${resourceAmount(
      "memory",
      bytesMax,
    )} are taken here; take a part of it, or plan it apart with \`makeway plan\`.`;
    return;
  }
  isBusy.value = true;
  const query = preset.value ? `?preset=${encodeURIComponent(preset.value)}` : "";
  const answer = await askJson<Answer>(`/api/what-if${query}`, {
    method: "POST",
    headers: { "Content-Type": "application/yaml" },
    body: manifest.value,
  });
  isBusy.value = false;
  error.value = "error" in answer ? answer.error : "";
  plan.value = "error" in answer ? null : answer.value;
}

async function drop(event: DragEvent): Promise<void> {
  const files = [...(event.dataTransfer?.files ?? [])];
  if (files.length === 0) return; // The browser inserts dropped text.
  event.preventDefault();
  const texts = await Promise.all(files.map((file) => file.text()));
  manifest.value = texts.join("\n---\n");
}

/** All of the window takes files: beside the box, the browser would leave the page for them. */
function useDrop(): void {
  useEffect(() => {
    const accept = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    };
    window.addEventListener("dragover", accept);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", accept);
      window.removeEventListener("drop", drop);
    };
  }, []);
}

export function PresetChoice(props: {
  facts: Facts;
  value: string;
  none: string;
  choose: (name: string) => void;
}) {
  return (
    <label>
      Rules{" "}
      <select value={props.value} onChange={(event) => props.choose(event.currentTarget.value)}>
        <option value="">{props.none}</option>
        {props.facts.presets.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function WhatIf(props: { facts: Facts }) {
  useDrop();
  return (
    <>
      <Section
        id="what-if"
        title="What if"
        lead="Paste or drop a manifest: which pods would get a place, and which would be evicted. Nothing is changed."
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            decide();
          }}
        >
          <textarea
            aria-label="Manifest, YAML or JSON"
            rows={10}
            spellcheck={false}
            placeholder={example}
            value={manifest.value}
            onInput={(event) => {
              manifest.value = event.currentTarget.value;
            }}
          />
          <div class="ask-form">
            <PresetChoice
              facts={props.facts}
              value={preset.value}
              none="of this run"
              choose={(name) => {
                preset.value = name;
              }}
            />
            <button
              type="button"
              class="go"
              onClick={() => {
                manifest.value = example;
              }}
            >
              Example
            </button>
            <button type="submit" class="go main" disabled={isBusy.value || !manifest.value.trim()}>
              {isBusy.value ? "Deciding…" : "Decide"}
            </button>
          </div>
        </form>
        {error.value ? <pre class="warning error-text">{error.value}</pre> : null}
        {plan.value ? <PlanLead plan={plan.value} remark="Nothing was changed." /> : null}
        {plan.value?.notes?.map((note) => (
          <p key={note} class="note left-out">
            {note}
          </p>
        ))}
      </Section>
      {plan.value ? <PlanSections plan={plan.value} isOfManifest /> : null}
    </>
  );
}
