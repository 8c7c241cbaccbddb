import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { PlanLead, PlanSections } from "../plan/page";
import type { Plan } from "../plan/types";
import { Choice } from "../shared/choice";
import { count, counted } from "../shared/format";
import { Section } from "../shared/frame";
import { askJson } from "./ask_server";
import type { Facts } from "./types";
import { PresetChoice } from "./what_if";

/** Number, milliseconds, asks, 1 where the plan acts. */
type Cycle = [number, number, number, number];

/** A plan, or why none could be made. */
type Made = Plan | { error: string };

interface Then {
  cycle: number;
  now: number;
  plan: Made;
  other?: Made;
}

const settleMs = 250; // A slider that moves asks for nothing.
const chosenPlan = signal(0);

function useHistory() {
  const [cycles, setCycles] = useState<Cycle[]>([]);
  const [error, setError] = useState("");
  const load = async () => {
    const answer = await askJson<{ cycles: Cycle[] }>("/api/history");
    if ("error" in answer) setError(answer.error);
    else {
      setError("");
      setCycles(answer.value.cycles);
    }
    return "error" in answer ? [] : answer.value.cycles;
  };
  return { cycles, error, load };
}

function Slider(props: {
  cycles: Cycle[];
  at: number;
  move: (at: number) => void;
  refresh: () => void;
}) {
  const { cycles, at } = props;
  const cycle = cycles[at];
  const acting = (from: number, step: number) => {
    for (let next = from + step; next >= 0 && next < cycles.length; next += step) {
      if (cycles[next]?.[3] === 1) return next;
    }
    return from;
  };
  return (
    <>
      <input
        type="range"
        class="slider"
        aria-label="Cycle"
        aria-valuetext={cycle ? `cycle ${cycle[0]}` : ""}
        min={0}
        max={Math.max(0, cycles.length - 1)}
        value={at}
        onInput={(event) => props.move(Number(event.currentTarget.value))}
      />
      <div class="ask-form">
        <button type="button" class="go" onClick={() => props.move(acting(at, -1))}>
          ← Action before
        </button>
        <button type="button" class="go" onClick={() => props.move(acting(at, 1))}>
          Action after →
        </button>
        <button type="button" class="go" onClick={props.refresh}>
          Newest
        </button>
        {cycle ? (
          <span class="note">
            Cycle {count(cycle[0])} at {new Date(cycle[1]).toISOString().replace(".000Z", "Z")}:{" "}
            {counted(cycle[2], "ask")}
            {cycle[3] === 1 ? "" : ", nothing was done"}
          </span>
        ) : null}
      </div>
    </>
  );
}

export function LookBack(props: { facts: Facts }) {
  const { cycles, error, load } = useHistory();
  const [at, setAt] = useState(0);
  const [preset, setPreset] = useState("");
  const [then, setThen] = useState<Then | null>(null);
  const [wrong, setWrong] = useState("");
  const refresh = () => load().then((all) => setAt(Math.max(0, all.length - 1)));
  useEffect(() => {
    if (props.facts.journal) refresh();
  }, []);
  const number = cycles[at]?.[0];
  useEffect(() => {
    if (number === undefined) return;
    const left = new AbortController(); // So that the server stops reading for a closed view.
    const soon = setTimeout(async () => {
      const more = preset ? `&preset=${encodeURIComponent(preset)}` : "";
      const answer = await askJson<Then>(`/api/at?cycle=${number}${more}`, { signal: left.signal });
      if (left.signal.aborted) return;
      setWrong("error" in answer ? answer.error : "");
      if (!("error" in answer)) setThen(answer.value);
    }, settleMs);
    return () => {
      left.abort();
      clearTimeout(soon);
    };
  }, [number, preset]);
  const made = chosenPlan.value === 1 && then?.other !== undefined ? then.other : then?.plan;
  const plan = made && !("error" in made) ? made : null;
  return (
    <>
      <Section
        id="look-back"
        title="Look back"
        lead="The cluster as it was at any recorded cycle, what was decided there, and what other rules would have decided."
      >
        {props.facts.journal ? null : (
          <p class="empty">
            This run keeps no journal; start makeway with --journal FILE to look back.
          </p>
        )}
        {error ? <p class="empty">{error}</p> : null}
        {cycles.length > 0 ? (
          <>
            <Slider cycles={cycles} at={at} move={setAt} refresh={refresh} />
            <div class="ask-form">
              <PresetChoice
                facts={props.facts}
                value={preset}
                none="none but its own"
                choose={(name) => {
                  setPreset(name);
                  chosenPlan.value = name ? 1 : 0;
                }}
              />
              {then?.other !== undefined ? (
                <Choice
                  label="Decided by"
                  names={[
                    then && !("error" in then.plan) ? then.plan.preset : "then",
                    preset || "other",
                  ]}
                  value={chosenPlan}
                />
              ) : null}
            </div>
          </>
        ) : null}
        {wrong ? <p class="warning">{wrong}</p> : null}
        {made && "error" in made ? (
          <pre class="warning error-text">
            {made.error || "No plan could be made: a bug in Makeway."}
          </pre>
        ) : null}
        {plan ? <PlanLead plan={plan} remark="" /> : null}
      </Section>
      {plan ? <PlanSections key={`${then?.cycle} ${plan.preset}`} plan={plan} /> : null}
    </>
  );
}
