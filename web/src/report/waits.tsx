import { count, counted, span } from "../shared/format";
import { Scroll } from "../shared/scroll";
import type { WaitRow } from "./types";

function bandNames(boundsMs: number[]): string[] {
  const names = boundsMs.map((bound, at) =>
    at === 0
      ? `under ${span(bound / 1000)}`
      : `${span((boundsMs[at - 1] ?? 0) / 1000)} to ${span(bound / 1000)}`,
  );
  return [...names, `${span((boundsMs.at(-1) ?? 0) / 1000)} or more`, "never started"];
}

function Bar(props: { row: WaitRow; names: string[] }) {
  const all = [...props.row.runs, props.row.never];
  const sum = all.reduce((a, b) => a + b, 0);
  const labels = all
    .map((runs, at) => (runs > 0 ? `${counted(runs, "run")} ${props.names[at]}` : ""))
    .filter((text) => text !== "");
  return (
    <div class="bar" role="img" aria-label={labels.join(", ")}>
      {all.map((runs, at) =>
        runs === 0 ? null : (
          <span
            key={props.names[at]}
            class={at === all.length - 1 ? "band never" : `band wait-${at}`}
            style={{ flexGrow: runs }}
            data-tip={`${counted(runs, "run")}, ${((100 * runs) / sum).toFixed(1)} %: ${props.names[at]}`}
          />
        ),
      )}
    </div>
  );
}

export function Waits(props: { rows: WaitRow[]; boundsMs: number[] }) {
  const names = bandNames(props.boundsMs);
  if (props.rows.length === 0) return <p class="empty">Nothing arrived.</p>;
  const used = names.map((_name, at) =>
    props.rows.some((row) => (at < row.runs.length ? (row.runs[at] ?? 0) > 0 : row.never > 0)),
  );
  const columns: ["p50" | "p90" | "p99" | "max", string][] = [
    ["p50", "Half of the runs waited at most this long."],
    ["p90", "90 of 100 runs waited at most this long."],
    ["p99", "99 of 100 runs waited at most this long."],
    ["max", "The longest wait of all runs that started."],
  ];
  return (
    <>
      <ul class="legend">
        {names.map((name, at) =>
          used[at] ? (
            <li key={name}>
              <span class={at === names.length - 1 ? "key never" : `key wait-${at}`} />
              {name}
            </li>
          ) : null,
        )}
      </ul>
      <Scroll label="Waits by priority">
        <table class="waits">
          <thead>
            <tr>
              <th scope="col">Priority</th>
              <th scope="col" class="number">
                Runs
              </th>
              <th scope="col" class="wide">
                How long they waited
              </th>
              {columns.map(([name]) => (
                <th scope="col" key={name} class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {props.rows.map((row) => (
              <tr key={row.priority}>
                <th scope="row">{row.priority}</th>
                <td class="number" data-tip="Runs of this priority, also those that never started.">
                  {count(row.runs.reduce((a, b) => a + b, row.never))}
                </td>
                <td class="wide">
                  <Bar row={row} names={names} />
                </td>
                {columns.map(([name, tip]) => (
                  <td class="number" key={name} data-tip={`${tip} Time.`}>
                    {row[name] ?? "–"}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}
