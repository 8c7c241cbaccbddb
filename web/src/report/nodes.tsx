import { percent, span } from "../shared/format";
import { Heat } from "../shared/heat";
import type { Run } from "./types";

export function Nodes(props: { run: Run }) {
  const { rows, seconds, used } = props.run.nodes;
  if (rows.length === 0 || seconds.length === 0) {
    return (
      <p class="empty">No sample was taken: nothing arrived, or it was over within a minute.</p>
    );
  }
  const height = rows.length <= 12 ? 18 : rows.length <= 40 ? 10 : 5;
  return (
    <>
      <Heat
        label={`Use of ${props.run.scarce} by node over time`}
        columns={seconds.length}
        rows={rows.length}
        cellHeight={height}
        value={(row, column) => used[row]?.[column] ?? null}
        describe={(row, column) => {
          const value = used[row]?.[column];
          const what =
            value === null || value === undefined
              ? "not there"
              : `${percent(value)} of its ${props.run.scarce} in use`;
          return `${rows[row]}, after ${span(seconds[column] ?? 0)}: ${what}`;
        }}
      />
      <p class="scale" aria-hidden="true">
        <span>
          0 % <span class="ramp" /> 100 %
        </span>
        <span>
          from {span(seconds[0] ?? 0)} to {span(seconds.at(-1) ?? 0)} after the start
        </span>
      </p>
    </>
  );
}
