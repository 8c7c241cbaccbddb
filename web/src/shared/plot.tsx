import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { span } from "./format";
import { colour, theme } from "./theme";

export interface Line {
  name: string;
  values: (number | null)[];
  colour: string; // A variable of the style sheet.
  dashed?: boolean;
}

export interface PlotProps {
  title: string;
  seconds: number[];
  lines: Line[];
  unit: string;
  show: (value: number) => string;
  height?: number;
  steps?: boolean;
  top?: number; // The top of the scale, where it is known.
  least?: number; // Otherwise it reaches at least so far.
  sync?: string; // Plots with the same word have one cursor.
}

/** Steps of a time axis that people count in, in seconds. */
const steps = [
  1, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
  2_592_000, 7_776_000, 31_536_000,
];

function lineColour(props: PlotProps, which: number): string {
  return colour(props.lines[which - 1]?.colour ?? "muted");
}

/** Under the pointer; without one the last there is: what counts now, or in the end. */
function pointed<T>(value: T, all: readonly T[], at: number | null | undefined): T | null {
  return at === null || at === undefined ? (all.at(-1) ?? null) : value;
}

function options(props: PlotProps, width: number): uPlot.Options {
  const axis = { stroke: colour("muted"), grid: { stroke: colour("line"), width: 1 } };
  return {
    width,
    height: props.height ?? 200,
    legend: { markers: { fill: (_plot, which) => lineColour(props, which) } },
    cursor: { sync: props.sync ? { key: props.sync } : undefined, drag: { x: true, y: false } },
    scales: {
      x: { time: false, range: (_plot, _min, max) => [0, max ?? 1] },
      y: {
        range: (_plot, _min, max) => [
          0,
          props.top ?? Math.max(props.least ?? 1, (max ?? 0) * 1.08),
        ],
      },
    },
    axes: [
      { ...axis, values: (_plot, marks) => marks.map(span), space: 70, incrs: steps },
      {
        ...axis,
        size: 64,
        values: (_plot, marks) => marks.map((mark) => props.show(mark)),
      },
    ],
    series: [
      {
        label: "after",
        value: (_plot, value: number | null, _which, at) => {
          const shown = pointed(value, props.seconds, at);
          return shown === null ? "–" : span(shown);
        },
      },
      ...props.lines.map((line) => ({
        label: line.name,
        stroke: colour(line.colour),
        width: 1.75,
        dash: line.dashed ? [6, 4] : undefined,
        points: { show: props.seconds.length < 3 },
        paths: props.steps ? uPlot.paths.stepped?.({ align: 1 }) : undefined,
        value: (_plot: uPlot, value: number | null, _which: number, at: number | null) => {
          const shown = pointed(value, line.values, at);
          return shown === null ? "–" : props.show(shown);
        },
      })),
    ],
  };
}

/** Lines over time. Below it the figures under the pointer, else the last; dragging zooms in. */
export function Plot(props: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const shown = theme.value;
  useEffect(() => {
    const holder = place.current;
    if (!holder) return;
    const data = [props.seconds, ...props.lines.map((line) => line.values)] as uPlot.AlignedData;
    const plot = new uPlot(options(props, holder.clientWidth), data, holder);
    plot.root.dataset.points = String(props.seconds.length);
    const watch = new ResizeObserver(() => {
      plot.setSize({ width: holder.clientWidth, height: props.height ?? 200 });
    });
    watch.observe(holder);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [props.lines, props.seconds, shown]);
  return (
    <figure class="plot">
      <figcaption>
        {props.title} <span class="unit">{props.unit}</span>
      </figcaption>
      {props.seconds.length === 0 ? (
        <p class="empty">No sample was taken: nothing arrived, or it was over within a minute.</p>
      ) : (
        <div
          ref={place}
          role="img"
          aria-label={`${props.title}, over time: ${props.lines.map((each) => each.name).join(", ")}`}
        />
      )}
    </figure>
  );
}
