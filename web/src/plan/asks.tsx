import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { count, counted, span } from "../shared/format";
import type { Ask, Plan } from "./types";

const outcomes: Record<string, string> = {
  fits: "There is room now.",
  preempts: "There is room once the victims are gone.",
  waits: "There is room once pods that are leaving are gone, or a delay has passed.",
  infeasible: "Proven: no node can hold it, whatever is evicted.",
  "not-found": "Nothing was found, and that proves nothing.",
};

const shown_at_once = 100;

export function AskList(props: { plan: Plan; chosen: Signal<number> }) {
  const { plan, chosen } = props;
  const [words, setWords] = useState("");
  const [limit, setLimit] = useState(shown_at_once);
  const found = plan.asks
    .map((ask, at) => ({ ask, at }))
    .filter(({ ask }) => `${ask.name} ${ask.outcome}`.includes(words.trim()));
  return (
    <div class="asks">
      {plan.asks.length > 8 ? (
        <label class="find">
          <span>Find</span>
          <input
            type="search"
            value={words}
            placeholder="name or outcome"
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </label>
      ) : null}
      <ul>
        {found.slice(0, limit).map(({ ask, at }) => (
          <li key={ask.name}>
            <button
              type="button"
              class={at === chosen.value ? "ask chosen" : "ask"}
              aria-pressed={at === chosen.value}
              onClick={() => {
                chosen.value = at;
              }}
            >
              <span class={`outcome ${ask.outcome}`}>{ask.outcome}</span>
              <span class="ask-name">{ask.name}</span>
              <span class="ask-facts">
                priority {ask.priority}
                {ask.victimsAll > 0 ? `, ${counted(ask.victimsAll, "victim")}` : ""}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p class="note">No ask has that in its name or outcome.</p> : null}
      {found.length > limit ? (
        <button type="button" class="more" onClick={() => setLimit(limit + shown_at_once)}>
          Show more ({count(found.length - limit)} left)
        </button>
      ) : null}
      {plan.asksAll > plan.asks.length ? (
        <p class="note">
          {count(plan.asks.length)} of {count(plan.asksAll)} asks: those that preempt or find no
          place first.
        </p>
      ) : null}
    </div>
  );
}

function Victims(props: { ask: Ask }) {
  const { ask } = props;
  if (ask.victims.length === 0) return null;
  const first = ask.victims[0];
  return (
    <>
      <h3>Victims</h3>
      <ul class="lines">
        {ask.victims.map((victim) => (
          <li key={victim.pod}>
            <b>{victim.pod}</b>
            {victim.node ? ` on ${victim.node}` : ""}, priority {victim.priority}
            {victim.reason ? `: ${victim.reason}` : ""}
          </li>
        ))}
        {ask.victimsAll > ask.victims.length ? (
          <li>and {count(ask.victimsAll - ask.victims.length)} more</li>
        ) : null}
      </ul>
      <p class="note">
        {first?.rule ? `Rule: ${first.rule}. ` : ""}
        {first?.alternative ? `Best alternative: ${first.alternative}. ` : ""}
        {first?.key ? `Decided by ${first.key}. ` : ""}
        {ask.cost ? `Work lost: ${ask.cost}.` : ""}
      </p>
    </>
  );
}

function Alternatives(props: { ask: Ask; other: Signal<number> }) {
  const { ask, other } = props;
  if (ask.alternatives.length === 0) return null;
  return (
    <>
      <h3>Alternatives</h3>
      <ul class="alternatives">
        {ask.alternatives.map((each, at) => (
          <li key={`${each.node} ${each.domain}`}>
            <button
              type="button"
              class={other.value === at ? "ask chosen" : "ask"}
              aria-pressed={other.value === at}
              onClick={() => {
                other.value = other.value === at ? -1 : at;
              }}
            >
              <span class="ask-name">
                {each.node || each.domain}
                {each.node && each.domain ? ` (${each.domain})` : ""}
              </span>
              <span class="ask-facts">
                {counted(each.victims, "victim")}
                {each.lostOn ? `; lost on ${each.lostOn}` : ""}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

export function AskDetail(props: { ask: Ask; other: Signal<number> }) {
  const { ask } = props;
  return (
    <div class="detail">
      <h3>
        <span class={`outcome ${ask.outcome}`} data-tip={outcomes[ask.outcome]}>
          {ask.outcome}
        </span>{" "}
        {ask.name}
      </h3>
      <p>{ask.reason}</p>
      <p class="note">
        Priority {ask.priority}
        {ask.pending === undefined ? "" : `, pending for ${span(ask.pending)}`}.
      </p>
      {ask.places.length > 0 ? (
        <>
          <h3>Placements</h3>
          <ul class="lines">
            {ask.places.map((place) => (
              <li key={place.pod}>
                <b>{place.pod}</b> on {place.node}
              </li>
            ))}
            {ask.placesAll > ask.places.length ? (
              <li>and {count(ask.placesAll - ask.places.length)} more</li>
            ) : null}
          </ul>
        </>
      ) : null}
      <Victims ask={ask} />
      {ask.waitsFor.length > 0 ? (
        <>
          <h3>Waits for</h3>
          <ul class="lines">
            {ask.waitsFor.map((place) => (
              <li key={place.pod}>
                <b>{place.pod}</b> on {place.node}
              </li>
            ))}
          </ul>
        </>
      ) : null}
      <Alternatives ask={ask} other={props.other} />
      {ask.refusals.length > 0 ? (
        <>
          <h3>Why not elsewhere</h3>
          <ul class="lines">
            {ask.refusals.map((each) => (
              <li key={each.text}>
                {counted(each.nodes, "node")}: {each.text}
                {each.example ? ` (such as ${each.example})` : ""}
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </div>
  );
}
