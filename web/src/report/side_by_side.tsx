import { Scroll } from "../shared/scroll";
import { Term } from "../shared/tip";
import type { Metric, Report } from "./types";

function Row(props: { metric: Metric; names: string[] }) {
  const { metric, names } = props;
  return (
    <tr>
      <th scope="row">
        <Term tip={metric.meaning}>{metric.label}</Term>
      </th>
      <td class="unit">{metric.unit}</td>
      {metric.values.map((value, at) => (
        <td
          key={names[at]}
          class={value?.best ? "number best" : "number"}
          data-tip={`${metric.label} of ${names[at]}, ${metric.unit}: ${metric.meaning}`}
        >
          {value?.best ? <span class="star">★ </span> : null}
          {value?.best ? <span class="hidden">best: </span> : null}
          {value?.text ?? "–"}
        </td>
      ))}
    </tr>
  );
}

function wins(report: Report, run: number): number {
  return report.metrics.filter((metric) => metric.values[run]?.best).length;
}

export function SideBySide(props: { report: Report }) {
  const { report } = props;
  const names = report.runs.map((run) => run.name);
  return (
    <Scroll label="Metrics side by side">
      <table class="metrics">
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col">Unit</th>
            {names.map((name) => (
              <th scope="col" key={name} class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {report.metrics.map((metric) => (
            <Row key={metric.label} metric={metric} names={names} />
          ))}
        </tbody>
        {names.length > 1 ? (
          <tfoot>
            <tr>
              <th scope="row">
                <Term tip="In how many of the lines above it is the best, alone or with others. Lines do not weigh the same: look at those that matter to you.">
                  lines won
                </Term>
              </th>
              <td class="unit">count</td>
              {names.map((name, at) => (
                <td key={name} class="number" data-tip={`Lines in which ${name} is the best`}>
                  {wins(report, at)}
                </td>
              ))}
            </tr>
          </tfoot>
        ) : null}
      </table>
    </Scroll>
  );
}
