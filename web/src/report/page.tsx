import { signal } from "@preact/signals";
import { Choice } from "../shared/choice";
import { count, counted, span } from "../shared/format";
import { Frame, Section } from "../shared/frame";
import { Decisions } from "./decisions";
import { Matrix } from "./matrix";
import { Nodes } from "./nodes";
import { OverTime } from "./over_time";
import { Queues } from "./queues";
import { SideBySide } from "./side_by_side";
import type { Report, Run } from "./types";
import { Waits } from "./waits";

const chosen = signal(0);

function Lead(props: { report: Report }) {
  const { report } = props;
  return (
    <>
      <p>
        {counted(report.pods, "pod")} in {counted(report.tasks, "task")} on{" "}
        {counted(report.nodes, "node")}; {report.load}. A cycle takes{" "}
        {report.cycleMs >= 1000 ? span(report.cycleMs / 1000) : `${report.cycleMs} ms`} of virtual
        time.
      </p>
      {report.notes.map((note) => (
        <p key={note} class="note">
          Note: {note}
        </p>
      ))}
      {report.runs
        .filter((run) => run.partial)
        .map((run) => (
          <p key={run.name} class="warning">
            {run.name} is partial: it was stopped after {span(run.seconds)} of virtual time.
          </p>
        ))}
    </>
  );
}

function OneRun(props: { run: Run; report: Report }) {
  const { run, report } = props;
  return (
    <>
      <Section
        id="waits"
        title="How long runs waited"
        lead="From arrival to the first start, by priority. A run is a pod of a job, a gang, or a pod of a service."
      >
        <Waits rows={run.waits} boundsMs={report.waitBoundsMs} />
      </Section>
      <Section
        id="matrix"
        title="Preemptions by priority"
        lead="Evicted pods, sessions and replicas, by the priority of the ask and by their own. Queues take back what they deserve, whatever the priorities."
      >
        <Matrix matrix={run.matrix} />
      </Section>
      <Section
        id="nodes"
        title="Nodes over time"
        lead={`How much of the ${run.scarce} of each node was used. ${
          report.nodes > run.nodes.rows.length && run.nodes.rows.length > 0
            ? `${count(report.nodes)} nodes in ${count(run.nodes.rows.length)} rows: each is the mean of neighbours by name.`
            : ""
        }`}
      >
        <Nodes run={run} />
      </Section>
      <Section
        id="queues"
        title="Queues against what they deserve"
        lead="The line is what a queue used, the dashed one what it deserved."
      >
        <Queues queues={run.queues} />
      </Section>
      <Section
        id="decisions"
        title="Decisions that stand out"
        lead="Choose a heading to sort by it, and a decision to read why it was made. Waits are virtual time: processor time differs from machine to machine and is not in a report."
      >
        <Decisions run={run} />
      </Section>
    </>
  );
}

export function ReportPage(props: { report: Report }) {
  const { report } = props;
  const run = report.runs[chosen.value];
  return (
    <Frame title="Simulation" lead={<Lead report={report} />}>
      <Section
        id="time"
        title="Over time"
        lead="Drag over a plot to zoom in; double-click to zoom out."
      >
        <OverTime runs={report.runs} />
      </Section>
      <Section
        id="metrics"
        title="Side by side"
        lead={
          report.runs.length > 1
            ? "A star marks the best of its line. Point at a name or a number to read what it means."
            : "Point at a name or a number to read what it means."
        }
      >
        <SideBySide report={report} />
      </Section>
      {report.runs.length > 1 ? (
        <div class="chooser">
          <Choice label="Details of" names={report.runs.map((each) => each.name)} value={chosen} />
        </div>
      ) : null}
      {run ? <OneRun run={run} report={report} /> : null}
    </Frame>
  );
}
