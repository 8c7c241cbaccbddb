import { useMemo } from "preact/hooks";
import { amount, count } from "../shared/format";
import { Plot } from "../shared/plot";
import type { Run } from "./types";

/** A cycle in which nothing was decided says nothing: what was last known holds. */
function carried(values: (number | null)[], divisor: number): (number | null)[] {
  let last: number | null = null;
  return values.map((value) => {
    if (value !== null) last = value / divisor;
    return last;
  });
}

export function Queues(props: { queues: Run["queues"] }) {
  const { queues } = props;
  const plots = useMemo(
    () =>
      queues.rows.map((row) => ({
        name: row.name,
        lines: [
          { name: "used", colour: "series-0", values: carried(row.used, queues.divisor) },
          {
            name: "deserved",
            colour: "series-1",
            dashed: true,
            values: carried(row.deserved, queues.divisor),
          },
        ],
      })),
    [queues],
  );
  if (plots.length === 0) return <p class="empty">This load has no queues.</p>;
  const all = `${count(queues.all)}${queues.more ? " or more" : ""}`;
  return (
    <>
      {queues.all > plots.length ? (
        <p class="note">
          {plots.length} of {all} queues: those that were furthest from what they deserve.
        </p>
      ) : null}
      <div class="plots">
        {plots.map((plot) => (
          <Plot
            key={plot.name}
            title={plot.name}
            unit={queues.unit}
            seconds={queues.seconds}
            lines={plot.lines}
            show={amount}
            height={150}
            sync="queues"
          />
        ))}
      </div>
    </>
  );
}
