import { counted, percent, resourceAmount } from "../shared/format";
import { Scroll } from "../shared/scroll";
import type { Colours } from "./colours";
import { type Fate, fates, type Part, type PlanNode } from "./types";

const titles: Record<Fate, string> = {
  stays: "stays",
  leaving: "is leaving already",
  goes: "goes",
  comes: "comes",
};

export interface BarContext {
  colours: Colours;
  resources: string[];
  resource: number;
}

function fateOf(part: Part): Fate {
  return fates[part[0] ?? 0] ?? "stays";
}

export function amountOf(part: Part, resource: number): number {
  return part[3 + resource] ?? 0;
}

/** Thousandths of the room that is taken by pods of these fates. */
export function share(node: PlanNode, resource: number, which: readonly Fate[]): number {
  const room = node.room[resource] ?? 0;
  const used = node.parts
    .filter((part) => which.includes(fateOf(part)))
    .reduce((sum, part) => sum + amountOf(part, resource), 0);
  return room > 0 ? Math.round((1000 * used) / room) : used > 0 ? 1000 : 0;
}

function Track(props: { node: PlanNode; label: string; which: readonly Fate[]; at: BarContext }) {
  const { node, at } = props;
  const name = at.resources[at.resource] ?? "";
  const parts = node.parts.filter(
    (part) => props.which.includes(fateOf(part)) && amountOf(part, at.resource) > 0,
  );
  const used = parts.reduce((sum, part) => sum + amountOf(part, at.resource), 0);
  const room = node.room[at.resource] ?? 0;
  const whole = Math.max(room, used, 1);
  const exists = Math.max(room, used) > 0;
  const labels = parts.map(
    (part) =>
      `${counted(part[2] ?? 0, "pod")} of priority ${part[1]} ${titles[fateOf(part)]}, ${resourceAmount(
        name,
        amountOf(part, at.resource),
      )}`,
  );
  const sum = `${resourceAmount(name, used)} of ${resourceAmount(name, room)}`;
  return (
    <div class="track">
      {props.label ? <span class="when">{props.label}</span> : null}
      <div class="node-bar" role="img" aria-label={`${props.label} ${sum}: ${labels.join("; ")}`}>
        {parts.map((part, which) => (
          <span
            key={`${part[0]} ${part[1]}`}
            class={`part ${fateOf(part)} p${at.colours.step(part[1] ?? 0)}`}
            style={{ width: `${(100 * amountOf(part, at.resource)) / whole}%` }}
            data-tip={labels[which]}
          />
        ))}
      </div>
      <span class="sum" data-tip={exists ? `${sum} in use` : `It has no ${name}`}>
        {exists ? percent(share(node, at.resource, props.which)) : "none"}
      </span>
    </div>
  );
}

/** A node as a bar; where the plan changes it, one for now and one for afterwards. */
export function NodeBars(props: {
  node: PlanNode;
  mark: string;
  open: boolean;
  choose: () => void;
  at: BarContext;
}) {
  const { node, at } = props;
  const changes = node.parts.some((part) => fateOf(part) === "goes" || fateOf(part) === "comes");
  return (
    <li class={props.mark ? "node marked" : "node"}>
      <button type="button" class="open name" aria-expanded={props.open} onClick={props.choose}>
        <span aria-hidden="true">{props.open ? "▾ " : "▸ "}</span>
        {node.name}
        {node.closed ? <span class="tag">cordoned</span> : null}
        {props.mark ? <span class="tag mark">{props.mark}</span> : null}
      </button>
      {changes ? (
        <div class="tracks">
          <Track node={node} label="now" which={["stays", "leaving", "goes"]} at={at} />
          <Track node={node} label="after" which={["stays", "comes"]} at={at} />
        </div>
      ) : (
        <div class="tracks">
          <Track node={node} label="" which={["stays", "leaving"]} at={at} />
        </div>
      )}
      {props.open ? <Pods node={node} at={at} /> : null}
    </li>
  );
}

function Pods(props: { node: PlanNode; at: BarContext }) {
  const { node, at } = props;
  if (!node.pods) {
    const pods = node.parts.reduce((sum, part) => sum + (part[2] ?? 0), 0);
    return (
      <p class="note">
        {pods === 0
          ? "Nothing runs here."
          : `${counted(pods, "pod")}; names are shown for nodes that the plan touches.`}
      </p>
    );
  }
  return (
    <Scroll label={`Pods of ${node.name}`}>
      <table class="pods">
        <thead>
          <tr>
            <th scope="col">Pod</th>
            <th scope="col" class="number">
              Priority
            </th>
            <th scope="col">What becomes of it</th>
            {at.resources.map((name) => (
              <th scope="col" class="number" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {node.pods.map((pod) => (
            <tr key={`${pod[0]} ${pod[1]}`} class={fates[pod[1]]}>
              <th scope="row">{pod[0]}</th>
              <td class="number">{pod[2]}</td>
              <td>{titles[fates[pod[1]] ?? "stays"]}</td>
              {at.resources.map((name, which) => (
                <td class="number" key={name} data-tip={`What it asks for of ${name}`}>
                  {resourceAmount(name, Number(pod[3 + which] ?? 0))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
