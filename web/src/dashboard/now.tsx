import { useMemo } from "preact/hooks";
import { count, counted, percent, span } from "../shared/format";
import { Section } from "../shared/frame";
import { Plot } from "../shared/plot";
import { Scroll } from "../shared/scroll";
import { Term } from "../shared/tip";
import { ClusterMap } from "./map";
import { Planes, Queues, Sessions } from "./own_kinds";
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
      <Tile
        name="pods"
        value={count(counters.pods)}
        tip="Pods, with and without a node; kernels of sessions are not counted."
      />
      <Tile
        name="waiting"
        value={count(counters.waiting)}
        tip="Pods, sessions and replicas without a place; they are listed below."
      />
      <Tile
        name="leaving"
        value={count(counters.leaving)}
        tip="Pods and kernels of sessions that are being deleted and still hold their room."
      />
      <Tile
        name="preemptions"
        value={count(counters.preemptions)}
        tip="Decisions with victims since this process began."
      />
      <Tile
        name="evicted"
        value={count(counters.victims)}
        tip="Pods, sessions and replicas that were evicted since this process began."
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
        <p class="empty">Nothing waits.</p>
      ) : (
        <Scroll label="Waiting asks">
          <table class="waiting">
            <thead>
              <tr>
                <th>Ask</th>
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
      <td class="subject">
        <Named
          object={`${ask.kind}/${ask.namespace}/${ask.name}`}
          text={`${ask.kind} ${ask.namespace}/${ask.name}`}
        />
        {ask.pods > 1 ? <span class="note"> ({counted(ask.pods, "pod")})</span> : null}
      </td>
      <td class="number" data-name="priority">
        {ask.priority}
      </td>
      <td class="number" data-name="for">
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
        <p class="empty">Nothing was evicted yet.</p>
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
        {each.ask.startsWith("Queue ") ? (
          `${each.ask} gets what it deserves`
        ) : (
          <>
            <Named object={objectOf(each.ask)} text={each.ask} />{" "}
            <span class="note">(priority {each.priority})</span>
          </>
        )}
        {each.node ? ` goes to ${each.node}` : ""}
      </div>
      <ul class="victims">
        {each.victims.map((victim) => (
          <li key={victim.who}>
            <Named object={objectOf(victim.who)} text={victim.who} /> leaves
            {victim.node ? ` ${victim.node}` : ""}: {victim.reason}
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
