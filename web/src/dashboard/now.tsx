import { useMemo } from "preact/hooks";
import { count, counted, percent, resourceAmount, span } from "../shared/format";
import { Section } from "../shared/frame";
import { Plot } from "../shared/plot";
import { Scroll } from "../shared/scroll";
import { Term } from "../shared/tip";
import { ClusterMap } from "./map";
import { Named, objectOf } from "./places";
import type { Board, Preemption, WaitingAsk } from "./types";

function time(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

function microseconds(value: number): string {
  return value >= 10_000 ? `${count(value / 1000)} ms` : `${count(value)} µs`;
}

function Tile(props: { name: string; value: string; tip: string }) {
  return (
    <div class="tile">
      <div class="tile-value">{props.value}</div>
      <Term tip={props.tip}>{props.name}</Term>
    </div>
  );
}

function Tiles(props: { board: Board }) {
  const { counters } = props.board;
  return (
    <div class="tiles">
      <Tile name="nodes" value={count(counters.nodes)} tip="Nodes of all planes." />
      <Tile name="pods" value={count(counters.pods)} tip="Pods, with and without a node." />
      <Tile
        name="waiting"
        value={count(counters.waiting)}
        tip="Pods and sessions without a place; who they are stands below."
      />
      <Tile
        name="leaving"
        value={count(counters.leaving)}
        tip="Pods that are being deleted and still hold their room."
      />
      <Tile
        name="preemptions"
        value={count(counters.preemptions)}
        tip="Decisions since this process began for which somebody had to leave."
      />
      <Tile
        name="made to leave"
        value={count(counters.victims)}
        tip="Pods and sessions that were told to leave since this process began."
      />
      <Tile
        name="decision, median"
        value={microseconds(counters.p50)}
        tip="Time to decide and judge a cycle; half of the last thousand took less."
      />
      <Tile
        name="decision, p99"
        value={microseconds(counters.p99)}
        tip="99 of 100 of the last thousand cycles took less than this."
      />
    </div>
  );
}

function Waiting(props: { board: Board }) {
  const { asks, run } = props.board;
  return (
    <Section
      id="waiting"
      title="Waiting"
      lead={
        asks.count > asks.rows.length
          ? `${counted(asks.count, "ask")}; the first ${count(asks.rows.length)} are shown.`
          : undefined
      }
    >
      {asks.rows.length === 0 ? (
        <p class="empty">Nobody waits.</p>
      ) : (
        <Scroll label="Who waits">
          <table class="waiting">
            <thead>
              <tr>
                <th>Who</th>
                <th class="number">Priority</th>
                <th class="number">For</th>
                <th>What for</th>
              </tr>
            </thead>
            <tbody>
              {asks.rows.map((ask) => (
                <WaitingRow
                  key={`${ask.kind}/${ask.namespace}/${ask.name}`}
                  ask={ask}
                  now={run.now}
                />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Section>
  );
}

function WaitingRow(props: { ask: WaitingAsk; now: number }) {
  const { ask, now } = props;
  return (
    <tr>
      <td class="who">
        <Named
          object={`${ask.kind}/${ask.namespace}/${ask.name}`}
          text={`${ask.kind} ${ask.namespace}/${ask.name}`}
        />
        {ask.pods > 1 ? <span class="note"> ({counted(ask.pods, "pod")})</span> : null}
      </td>
      <td class="number">{ask.priority}</td>
      <td class="number">
        {ask.since === undefined ? "–" : span(Math.max(0, now - ask.since) / 1000)}
      </td>
      <td class="reason">
        {ask.outcome ? <span class={`outcome ${ask.outcome}`}>{ask.outcome}</span> : null}{" "}
        {ask.reason || "no cycle has decided about it yet"}
      </td>
    </tr>
  );
}

function Feed(props: { feed: Preemption[] }) {
  return (
    <Section id="feed" title="Preemptions" lead="The last ones, newest first.">
      {props.feed.length === 0 ? (
        <p class="empty">Nobody had to leave yet.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without a focus, no key scrolls it
        <ol class="feed" tabIndex={0}>
          {props.feed.map((each) => (
            <FeedRow key={each.id} each={each} />
          ))}
        </ol>
      )}
    </Section>
  );
}

function FeedRow(props: { each: Preemption }) {
  const { each } = props;
  const isPlace = !/^(no|none)\b/.test(each.alternative);
  return (
    <li>
      <div>
        <time class="note">{time(each.when)}</time>{" "}
        <Named object={objectOf(each.ask)} text={each.ask} />{" "}
        <span class="note">(priority {each.priority})</span>
        {each.node ? ` goes to ${each.node}` : ""}
      </div>
      <ul class="victims">
        {each.victims.map((victim) => (
          <li key={victim.pod}>
            <Named object={objectOf(victim.pod)} text={victim.pod} /> leaves {victim.node}:{" "}
            {victim.reason}
          </li>
        ))}
        {each.count > each.victims.length ? (
          <li>and {counted(each.count - each.victims.length, "other")}</li>
        ) : null}
      </ul>
      {each.alternative ? (
        <div class="note">
          {isPlace ? "The alternative was " : "Alternative: "}
          {each.alternative}
          {each.key ? ` (${each.key})` : ""}
        </div>
      ) : null}
    </li>
  );
}

function OverTime(props: { board: Board }) {
  const { series, resources } = props.board;
  // Plots are made anew: every few samples are often enough for a person.
  const fresh = series.length < 20 ? series.length : Math.floor(props.board.frame / 4);
  const plots = useMemo(() => {
    const first = series[0]?.[0] ?? 0;
    const seconds = series.map((sample) => ((sample[0] ?? 0) - first) / 1000);
    const column = (at: number) => series.map((sample) => sample[at] ?? 0);
    return {
      seconds,
      used: resources.map((name, at) => ({
        name,
        colour: `series-${at}`,
        values: column(5 + at),
      })),
      waiting: [{ name: "waiting", colour: "series-1", values: column(1) }],
      decisions: [
        { name: "median", colour: "series-0", values: column(3) },
        { name: "p99", colour: "series-3", values: column(4) },
      ],
    };
  }, [fresh, resources.join()]);
  return (
    <Section id="time" title="Over time" lead="Since this page's server began to look.">
      <div class="plots">
        <Plot
          title="In use"
          unit="% of all nodes"
          seconds={plots.seconds}
          lines={plots.used}
          show={percent}
          top={1000}
          height={160}
          sync="time"
        />
        <Plot
          title="Waiting"
          unit="asks"
          seconds={plots.seconds}
          lines={plots.waiting}
          show={count}
          height={160}
          sync="time"
        />
        <Plot
          title="Decision"
          unit="time of a cycle"
          seconds={plots.seconds}
          lines={plots.decisions}
          show={microseconds}
          height={160}
          sync="time"
        />
      </div>
    </Section>
  );
}

function Queues(props: { board: Board }) {
  const { queues } = props.board;
  if (queues.rows.length === 0) return null;
  return (
    <Section id="queues" title="Queues">
      <Scroll label="Queues">
        <table>
          <thead>
            <tr>
              <th>Queue</th>
              <th class="number">Weight</th>
              <th>Resource</th>
              <th class="number">Deserved</th>
              <th class="number">Allocated</th>
              <th class="number">In use</th>
              <th class="number">Wanted</th>
              <th class="number">Coming</th>
            </tr>
          </thead>
          <tbody>
            {queues.rows.flatMap((queue) =>
              queue.shares.map((share, at) => (
                <tr key={`${queue.name} ${share.resource}`}>
                  <th scope="row">
                    {at === 0 ? `${queue.parent ? `${queue.parent} / ` : ""}${queue.name}` : ""}
                  </th>
                  <td class="number">{at === 0 ? queue.weight : ""}</td>
                  <td>{share.resource}</td>
                  {[
                    share.deserved,
                    share.allocated,
                    share.used,
                    share.demand,
                    share.preempting,
                  ].map((value, column) => (
                    <td key={column} class="number">
                      {resourceAmount(share.resource, value)}
                    </td>
                  ))}
                </tr>
              )),
            )}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}

function Sessions(props: { board: Board }) {
  const { sessions, run } = props.board;
  if (sessions.rows.length === 0) return null;
  return (
    <Section
      id="sessions"
      title="Sessions"
      lead={`${counted(sessions.count, "session")}; the first ${count(sessions.rows.length)} are shown.`}
    >
      <Scroll label="Sessions">
        <table>
          <thead>
            <tr>
              <th>Session</th>
              <th>Phase</th>
              <th>Resource group</th>
              <th class="number">Kernels</th>
              <th class="number">Preempted</th>
              <th>By</th>
            </tr>
          </thead>
          <tbody>
            {sessions.rows.map((each) => (
              <tr key={`${each.namespace}/${each.name}`}>
                <td>
                  <Named
                    object={`Session/${each.namespace}/${each.name}`}
                    text={`${each.namespace}/${each.name}`}
                  />
                </td>
                <td>
                  {each.phase}
                  {each.endsAt === undefined
                    ? ""
                    : `, ends in ${span(Math.max(0, each.endsAt - run.now) / 1000)}`}
                </td>
                <td>{each.group}</td>
                <td class="number">{each.kernels}</td>
                <td class="number">{each.preemptions}</td>
                <td>{each.preemptedBy}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}

function Planes(props: { board: Board }) {
  const { planes, resources } = props.board;
  if (planes.length === 0) return null;
  return (
    <Section id="planes" title="Planes">
      <Scroll label="Planes">
        <table>
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
                    {resourceAmount(name, plane.used[at] ?? 0)} of{" "}
                    {resourceAmount(name, plane.room[at] ?? 0)}
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

export function Now(props: { board: Board }) {
  const { board } = props;
  return (
    <>
      <Tiles board={board} />
      <ClusterMap board={board} />
      <div class="pair">
        <Waiting board={board} />
        <Feed feed={board.feed} />
      </div>
      <OverTime board={board} />
      <Queues board={board} />
      <Sessions board={board} />
      <Planes board={board} />
    </>
  );
}
