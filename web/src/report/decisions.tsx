import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Choice } from "../shared/choice";
import { amount, count, span } from "../shared/format";
import { Scroll } from "../shared/scroll";
import type { Decision, Run } from "./types";

const which = signal(0);
const shown_at_first = 15;

interface Column {
  name: string;
  tip: string;
  number: boolean;
  key: (decision: Decision) => number | string;
  show: (decision: Decision) => string;
}

const columns: Column[] = [
  {
    name: "Ask",
    tip: "The pod, group or session that got a place.",
    number: false,
    key: (each) => each.ask,
    show: (each) => each.ask,
  },
  {
    name: "Priority",
    tip: "Its priority; higher is more important. Queues that take back what they deserve have none.",
    number: true,
    key: (each) => each.priority ?? Number.NEGATIVE_INFINITY,
    show: (each) => String(each.priority ?? "–"),
  },
  {
    name: "Decided after",
    tip: "Virtual time since the start of the simulation.",
    number: true,
    key: (each) => each.second,
    show: (each) => span(each.second),
  },
  {
    name: "Waited",
    tip: "Virtual time from its creation to this decision.",
    number: true,
    key: (each) => each.waited,
    show: (each) => (each.waited > 0 ? span(each.waited) : "–"),
  },
  {
    name: "Victims",
    tip: "Pods, sessions and replicas that had to leave for it; a count.",
    number: true,
    key: (each) => each.victims,
    show: (each) => count(each.victims),
  },
  {
    name: "Work lost",
    tip: "Pod-hours that the victims have to do again.",
    number: true,
    key: (each) => each.podSeconds,
    show: (each) => `${amount(each.podSeconds / 3600)} h`,
  },
];

function Why(props: { decision: Decision }) {
  const { decision } = props;
  const facts: [string, string][] = [
    ["Outcome", `${decision.outcome}${decision.place ? `, on ${decision.place}` : ""}`],
    ["Reason", decision.reason],
    ["Rule", decision.rule],
    ["Best alternative", decision.alternative],
    ["Decided by", decision.key],
    ["GPU-hours lost", decision.gpuSeconds > 0 ? amount(decision.gpuSeconds / 3600) : ""],
  ];
  return (
    <div class="why">
      <dl>
        {facts.map(([name, text]) =>
          text === "" ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ),
        )}
      </dl>
      {decision.first.length > 0 ? (
        <ul>
          {decision.first.map((victim) => (
            <li key={victim.name}>
              <b>{victim.name}</b>
              {victim.node ? ` on ${victim.node}` : ""}, priority {victim.priority}
              {victim.reason ? `: ${victim.reason}` : ""}
            </li>
          ))}
          {decision.victims > decision.first.length ? (
            <li>and {count(decision.victims - decision.first.length)} more</li>
          ) : null}
        </ul>
      ) : null}
    </div>
  );
}

function Head(props: { at: number; sort: number; down: boolean; choose: (at: number) => void }) {
  const column = columns[props.at];
  if (!column) return null;
  const own = props.sort === props.at;
  const order = props.down ? "descending" : "ascending";
  return (
    <th scope="col" class={column.number ? "number" : ""} aria-sort={own ? order : "none"}>
      <button
        type="button"
        class="sort"
        data-tip={column.tip}
        onClick={() => props.choose(props.at)}
      >
        {column.name}
        <span aria-hidden="true">{own ? (props.down ? " ▼" : " ▲") : ""}</span>
      </button>
    </th>
  );
}

function Table(props: { decisions: Decision[]; sort: number }) {
  const [sort, setSort] = useState(props.sort);
  const [down, setDown] = useState(true);
  const [open, setOpen] = useState<Decision | null>(null);
  const [limit, setLimit] = useState(shown_at_first);
  const key = columns[sort]?.key ?? ((each: Decision) => each.ask);
  const sorted = [...props.decisions].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  });
  return (
    <>
      <Scroll label="Decisions">
        <table class="decisions">
          <thead>
            <tr>
              {columns.map((column, at) => (
                <Head
                  key={column.name}
                  at={at}
                  sort={sort}
                  down={down}
                  choose={(next) => {
                    setDown(next === sort ? !down : true);
                    setSort(next);
                  }}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, limit).map((decision) => (
              <>
                <tr key={`${decision.ask} ${decision.second}`}>
                  {columns.map((column, at) =>
                    at === 0 ? (
                      <th scope="row" key={column.name}>
                        <button
                          type="button"
                          class="open"
                          aria-expanded={open === decision}
                          onClick={() => setOpen(open === decision ? null : decision)}
                        >
                          <span aria-hidden="true">{open === decision ? "▾ " : "▸ "}</span>
                          {column.show(decision)}
                        </button>
                      </th>
                    ) : (
                      <td key={column.name} class="number" data-tip={column.tip}>
                        {column.show(decision)}
                      </td>
                    ),
                  )}
                </tr>
                {open === decision ? (
                  <tr key={`${decision.ask} ${decision.second} why`}>
                    <td colSpan={columns.length}>
                      <Why decision={decision} />
                    </td>
                  </tr>
                ) : null}
              </>
            ))}
          </tbody>
        </table>
      </Scroll>
      {sorted.length > limit ? (
        <button type="button" class="more" onClick={() => setLimit(sorted.length)}>
          Show all {count(sorted.length)}
        </button>
      ) : null}
    </>
  );
}

export function Decisions(props: { run: Run }) {
  const slow = which.value === 0;
  const decisions = slow ? props.run.slowest : props.run.mostDisruptive;
  return (
    <>
      <Choice label="Show" names={["Slowest", "Most disruptive"]} value={which} />
      {decisions.length === 0 ? (
        <p class="empty">{slow ? "No ask had to wait." : "Nothing was evicted."}</p>
      ) : (
        <Table key={`${props.run.name} ${which.value}`} decisions={decisions} sort={slow ? 3 : 4} />
      )}
    </>
  );
}
