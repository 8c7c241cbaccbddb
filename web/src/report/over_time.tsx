import { useMemo } from "preact/hooks";
import { count, percent } from "../shared/format";
import { Plot } from "../shared/plot";
import type { Run } from "./types";

const series_colours = 6;

/** Runs sample at different instants: one list of all, and for each what it last saw. */
function together(runs: Run[], pick: (run: Run) => number[]) {
  const seconds = [...new Set(runs.flatMap((run) => run.samples.seconds))].sort((a, b) => a - b);
  const lines = runs.map((run, which) => {
    const values = pick(run);
    const own = run.samples.seconds;
    let at = -1;
    return {
      name: run.name,
      colour: `series-${which % series_colours}`,
      dashed: which >= series_colours,
      values: seconds.map((second) => {
        while (at + 1 < own.length && (own[at + 1] ?? 0) <= second) at += 1;
        const over = at === own.length - 1 && second > (own[at] ?? 0);
        return at < 0 || over ? null : (values[at] ?? null);
      }),
    };
  });
  return { seconds, lines };
}

function differences(values: number[]): number[] {
  return values.map((value, at) => value - (at === 0 ? 0 : (values[at - 1] ?? 0)));
}

export function OverTime(props: { runs: Run[] }) {
  const { runs } = props;
  const [used, waiting, preemptions] = useMemo(
    () => [
      together(runs, (run) => run.samples.used),
      together(runs, (run) => run.samples.waiting),
      together(runs, (run) => differences(run.samples.preemptions)),
    ],
    [runs],
  );
  return (
    <div class="plots">
      <Plot
        {...used}
        title="Utilisation"
        unit={`% of all ${runs[0]?.scarce ?? ""} in use`}
        show={percent}
        top={1000}
        sync="time"
      />
      <Plot
        {...waiting}
        title="Queue length"
        unit="pods that wait"
        show={count}
        least={5}
        sync="time"
      />
      <Plot
        {...preemptions}
        title="Preemptions"
        unit="evicted per sample"
        show={count}
        least={5}
        steps
        sync="time"
      />
    </div>
  );
}
