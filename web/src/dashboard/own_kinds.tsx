// What only some clusters have: queues, sessions, planes. A section without rows is not shown.
import type { ComponentChildren } from "preact";
import { bareAmount, count, counted, percent, span } from "../shared/format";
import { Section } from "../shared/frame";
import { Scroll } from "../shared/scroll";
import { Term } from "../shared/tip";
import { Named, objectOf } from "./places";
import type { Board, Queue, Rows, Session, Share } from "./types";

/** "3 queues", and where a part is shown, which. */
function howMany<T>(rows: Rows<T>, noun: string, which: string): string {
  const all = counted(rows.count, noun);
  return rows.count > rows.rows.length
    ? `${all}; ${which} ${count(rows.rows.length)} are shown.`
    : `${all}.`;
}

function Head(props: { tip: string; number?: boolean; children: ComponentChildren }) {
  return (
    <th class={props.number ? "number" : undefined}>
      <Term tip={props.tip}>{props.children}</Term>
    </th>
  );
}

const shareColumns: { name: string; tip: string; of: (share: Share) => number }[] = [
  {
    name: "Deserved",
    tip: "Its fair share by weight, and no more than it wants. What is beyond it may be taken back.",
    of: (share) => share.deserved,
  },
  {
    name: "Allocated",
    tip: "What may run in it from now on.",
    of: (share) => share.allocated,
  },
  {
    name: "In use",
    tip: "Requests of its pods on nodes, also of those that are leaving.",
    of: (share) => share.used,
  },
  { name: "Wanted", tip: "In use and waiting together.", of: (share) => share.demand },
  {
    name: "Coming",
    tip: "Becomes its own once the pods of others that hold it are gone.",
    of: (share) => share.preempting,
  },
];

function ShareRow(props: { queue: Queue; share: Share; first: boolean }) {
  const { queue, share, first } = props;
  return (
    <tr>
      {first ? (
        <>
          <th scope="row" rowSpan={queue.shares.length}>
            {queue.parent ? <span class="note">{queue.parent} / </span> : null}
            {queue.name}
          </th>
          <td class="number" rowSpan={queue.shares.length}>
            {count(queue.weight)}
          </td>
        </>
      ) : null}
      <td>{share.resource}</td>
      {shareColumns.map((column) => (
        <td key={column.name} class="number">
          {bareAmount(share.resource, column.of(share))}
        </td>
      ))}
    </tr>
  );
}

export function Queues(props: { board: Board }) {
  const { queues } = props.board;
  if (queues.rows.length === 0) return null;
  return (
    <Section id="queues" title="Queues" lead={howMany(queues, "queue", "the first")}>
      <Scroll label="Queues">
        <table class="queues">
          <thead>
            <tr>
              <th>Queue</th>
              <Head number tip="Its share among the queues beside it.">
                Weight
              </Head>
              <th>Resource</th>
              {shareColumns.map((column) => (
                <Head key={column.name} number tip={column.tip}>
                  {column.name}
                </Head>
              ))}
            </tr>
          </thead>
          <tbody>
            {queues.rows.flatMap((queue) =>
              queue.shares.map((share, at) => (
                <ShareRow
                  key={`${queue.name} ${share.resource}`}
                  queue={queue}
                  share={share}
                  first={at === 0}
                />
              )),
            )}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}

function SessionRow(props: { each: Session; now: number }) {
  const { each, now } = props;
  return (
    <tr>
      <td class="subject">
        <Named
          object={`Session/${each.namespace}/${each.name}`}
          text={`${each.namespace}/${each.name}`}
        />
      </td>
      <td>
        {each.endsAt === undefined
          ? each.phase
          : `leaving, ${span(Math.max(0, each.endsAt - now) / 1000)} left`}
      </td>
      <td class="number">{each.priority}</td>
      <td>
        {each.group}
        {each.partition ? <span class="note"> / {each.partition}</span> : null}
      </td>
      <td class="number">{count(each.kernels)}</td>
      <td class="number">
        {each.created === undefined ? "–" : span(Math.max(0, now - each.created) / 1000)}
      </td>
      <td class="number">{each.preemptions === 0 ? "never" : counted(each.preemptions, "time")}</td>
      <td class="subject">
        {each.preemptedBy ? (
          <Named object={objectOf(each.preemptedBy)} text={each.preemptedBy} />
        ) : null}
      </td>
    </tr>
  );
}

export function Sessions(props: { board: Board }) {
  const { sessions, run } = props.board;
  if (sessions.rows.length === 0) return null;
  return (
    <Section
      id="sessions"
      title="Sessions"
      lead={howMany(sessions, "session", "those that do not run come first, and")}
    >
      <Scroll label="Sessions">
        <table class="sessions">
          <thead>
            <tr>
              <th>Session</th>
              <th>Phase</th>
              <th class="number">Priority</th>
              <Head tip="The nodes on which it may run, and its partition of them.">
                Resource group
              </Head>
              <Head number tip="They start together and leave together.">
                Kernels
              </Head>
              <th class="number">Age</th>
              <th class="number">Preempted</th>
              <Head tip="The last preemptor.">By</Head>
            </tr>
          </thead>
          <tbody>
            {sessions.rows.map((each) => (
              <SessionRow key={`${each.namespace}/${each.name}`} each={each} now={run.now} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}

function share(used: number, room: number): string {
  return room > 0 ? percent(Math.round((1000 * used) / room)) : "none";
}

export function Planes(props: { board: Board }) {
  const { planes, resources } = props.board;
  if (planes.length === 0) return null;
  return (
    <Section
      id="planes"
      title="Planes"
      lead="Clusters over which replicas are spread; home are the nodes of none of them."
    >
      <Scroll label="Planes">
        <table class="planes">
          <thead>
            <tr>
              <th>Plane</th>
              <th class="number">Nodes</th>
              <th class="number">Pods</th>
              {resources.map((name) => (
                <th key={name} class="number">
                  {name} in use
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {planes.map((plane) => (
              <tr key={plane.name}>
                <th scope="row">{plane.name || "home"}</th>
                <td class="number">{count(plane.nodes)}</td>
                <td class="number">{count(plane.pods)}</td>
                {resources.map((name, at) => (
                  <td key={name} class="number">
                    {bareAmount(name, plane.used[at] ?? 0)} of{" "}
                    {bareAmount(name, plane.room[at] ?? 0)}{" "}
                    <span class="note">({share(plane.used[at] ?? 0, plane.room[at] ?? 0)})</span>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}
