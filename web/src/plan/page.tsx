import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Choice } from "../shared/choice";
import { counted } from "../shared/format";
import { Frame, Section } from "../shared/frame";
import { AskDetail, AskList } from "./asks";
import { Colours } from "./colours";
import { Bars } from "./nodes";
import { type Ask, type Fate, fates, type Plan } from "./types";

const chosen = signal(0);
const other = signal(-1); // Which alternative of the chosen ask.
const resource = signal(0);

chosen.subscribe(() => {
  other.value = -1;
});

/** One that goes or comes, GPUs first: they are what such plans are about. Else one that is used. */
function firstResource(plan: Plan): number {
  const isUsed = (at: number, which: readonly Fate[]) =>
    plan.nodes.some((node) =>
      node.parts.some(
        (part) => (part[3 + at] ?? 0) > 0 && which.includes(fates[part[0] ?? 0] ?? "stays"),
      ),
    );
  const order = plan.resources.map((_name, at) => at);
  const isGpu = (at: number) => (plan.resources[at]?.includes("gpu") ? 0 : 1);
  order.sort((one, two) => isGpu(one) - isGpu(two) || one - two);
  const moved = order.find((at) => isUsed(at, ["goes", "comes"]));
  return moved ?? order.find((at) => isUsed(at, fates)) ?? 0;
}

/** The ask that is shown first: one with victims; of a manifest, one of its own. */
function firstAsk(plan: Plan, isOfManifest: boolean): number {
  const isQueue = (ask: Ask) => ask.name.startsWith("Queue ");
  const wanted = [
    (ask: Ask) => !isQueue(ask) && ask.victimsAll > 0,
    (ask: Ask) => !isOfManifest && ask.victimsAll > 0,
    (ask: Ask) => !isQueue(ask),
  ];
  const found = wanted.map((is) => plan.asks.findIndex(is)).find((at) => at >= 0);
  return found ?? 0;
}

function Legend(props: { colours: Colours }) {
  return (
    <ul class="legend">
      <li class="note">Priority:</li>
      {props.colours.legend().map(({ step, text }) => (
        <li key={step}>
          <span class={`key part p${step}`} />
          {text}
        </li>
      ))}
      <li>
        <span class="key part goes" />
        goes
      </li>
      <li>
        <span class="key part comes" />
        comes
      </li>
      <li>
        <span class="key part leaving" />
        leaving already
      </li>
    </ul>
  );
}

/** What it comes to, in a few lines. */
export function PlanLead(props: { plan: Plan; remark: string }) {
  const { plan } = props;
  return (
    <>
      <p>{plan.totals.replace("Plan: ", "")}</p>
      <p class="note">
        Plan {plan.id} by {plan.preset}, {counted(plan.nodes.length, "node")}.
        {plan.cost ? ` Work lost: ${plan.cost}.` : ""} {props.remark}
      </p>
      {plan.withheld ? <p class="warning">The plan is withheld: {plan.withheld}</p> : null}
      {plan.leftOut > 0 ? (
        <p class="warning">{counted(plan.leftOut, "ask")} left out because of a bug in Makeway.</p>
      ) : null}
    </>
  );
}

export function PlanPage(props: { plan: Plan }) {
  return (
    <Frame title="Plan" lead={<PlanLead plan={props.plan} remark="Nothing was changed." />}>
      <PlanSections plan={props.plan} />
    </Frame>
  );
}

/** The asks and the nodes; the dashboard shows them, too. */
export function PlanSections(props: { plan: Plan; isOfManifest?: boolean }) {
  const { plan } = props;
  const colours = useMemo(() => new Colours(plan), [plan]);
  useMemo(() => {
    resource.value = firstResource(plan);
    chosen.value = firstAsk(plan, props.isOfManifest ?? false);
  }, [plan]);
  const ask = plan.asks[chosen.value];
  return (
    <>
      <Section id="asks" title="Asks">
        {plan.asks.length === 0 ? (
          <p class="empty">Nothing is pending.</p>
        ) : (
          <div class="columns">
            <AskList plan={plan} chosen={chosen} />
            {ask ? <AskDetail ask={ask} other={other} /> : null}
          </div>
        )}
      </Section>
      <Section
        id="nodes"
        title="Nodes"
        lead="Each bar is a node, filled by the pods on it, most important first. Choose a node to see its pods."
      >
        <Choice label="Resource" names={plan.resources} value={resource} />
        <Legend colours={colours} />
        {plan.nodes.length === 0 ? (
          <p class="empty">There is no node.</p>
        ) : (
          <Bars
            nodes={plan.nodes}
            ask={ask}
            other={other.value}
            at={{ colours, resources: plan.resources, resource: resource.value }}
          />
        )}
      </Section>
    </>
  );
}
