import { useState } from "preact/hooks";
import { Choice } from "../shared/choice";
import { Frame } from "../shared/frame";
import { giveToken, needsToken } from "./ask_server";
import { board, isConnected, refusal } from "./live";
import { LookBack } from "./look_back";
import { Now } from "./now";
import { view, views } from "./places";
import type { Facts } from "./types";
import { WhatIf } from "./what_if";
import { Why } from "./why";

function TokenForm() {
  const [token, setToken] = useState("");
  return (
    <section aria-label="Token">
      <form
        class="ask-form"
        onSubmit={(event) => {
          event.preventDefault();
          giveToken(token);
        }}
      >
        <label>
          Token{" "}
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="go main">
          Show
        </button>
        <span class="note">It is the content of the file of --token-file.</span>
      </form>
    </section>
  );
}

function Status() {
  const run = board.value?.run;
  if (!run) return <p class="note">{refusal.value || "Connecting…"}</p>;
  return (
    <>
      <p class="note">
        <span class={isConnected.value ? "dot on" : "dot"} aria-hidden="true" />
        {isConnected.value ? "live" : "cut off; trying again"}
        {", "}
        {new Date(run.now).toISOString().slice(0, 19).replace("T", " ")}
        {" UTC, preset "}
        {run.preset}
        {run.carriesOut ? "" : ", plans are only made"}
      </p>
      {run.behind ? (
        <p class="warning">More happens than can be shown: this is old, and will catch up.</p>
      ) : null}
      {run.begun ? null : <p class="note">The cluster has not been read yet.</p>}
    </>
  );
}

export function DashboardPage(props: { facts: Facts }) {
  return (
    <Frame
      title="Makeway"
      lead={
        <>
          <Status />
          <Choice label="Show" names={views} value={view} />
        </>
      }
    >
      {needsToken.value ? <TokenForm /> : null}
      {view.value === 0 && board.value ? <Now board={board.value} /> : null}
      {view.value === 1 ? <Why /> : null}
      {view.value === 2 ? <WhatIf facts={props.facts} /> : null}
      {view.value === 3 ? <LookBack facts={props.facts} /> : null}
    </Frame>
  );
}
