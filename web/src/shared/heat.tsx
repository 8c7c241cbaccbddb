import { useEffect, useRef, useState } from "preact/hooks";
import { colour, theme } from "./theme";

export interface HeatProps {
  label: string;
  columns: number;
  rows: number;
  cellHeight: number;
  /** Thousandths; null: there is nothing. */
  value: (row: number, column: number) => number | null;
  describe: (row: number, column: number) => string;
  /** Cells that a ring marks. */
  marked?: (row: number, column: number) => boolean;
  choose?: (row: number, column: number) => void;
}

interface Cell {
  row: number;
  column: number;
}

function mix(from: number[], to: number[], permille: number): string {
  const part = Math.min(1, Math.max(0, permille / 1000));
  const parts = from.map((each, at) => Math.round(each + ((to[at] ?? 0) - each) * part));
  return `rgb(${parts.join(" ")})`;
}

function numbers(text: string): number[] {
  return (text.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
}

function draw(canvas: HTMLCanvasElement, props: HeatProps, cell: Cell | null): void {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = props.rows * props.cellHeight;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(scale, scale);
  const low = numbers(colour("heat-low"));
  const high = numbers(colour("heat-high"));
  const step = width / Math.max(1, props.columns);
  const gap = props.cellHeight > 6 ? 1 : 0;
  const side = gap > 0 && step > 9 ? 1 : 0;
  const ring = colour("focus");
  for (let row = 0; row < props.rows; row += 1) {
    for (let column = 0; column < props.columns; column += 1) {
      const value = props.value(row, column);
      if (value === null) continue;
      pen.fillStyle = mix(low, high, value);
      const left = Math.floor(column * step);
      pen.fillRect(
        left,
        row * props.cellHeight,
        Math.max(1, Math.floor((column + 1) * step) - left - side),
        props.cellHeight - gap,
      );
      if (!props.marked?.(row, column)) continue;
      pen.strokeStyle = ring;
      pen.lineWidth = 2;
      const wide = Math.max(3, Math.floor((column + 1) * step) - left - side - 2);
      pen.strokeRect(left + 1, row * props.cellHeight + 1, wide, props.cellHeight - gap - 2);
    }
  }
  if (!cell) return;
  pen.strokeStyle = colour("focus");
  pen.lineWidth = 2;
  pen.strokeRect(
    cell.column * step,
    cell.row * props.cellHeight,
    Math.max(3, step),
    props.cellHeight,
  );
}

/** A map of coloured cells. The arrow keys walk over it, and what a cell is stands below. */
export function Heat(props: HeatProps) {
  const place = useRef<HTMLCanvasElement>(null);
  const [cell, setCell] = useState<Cell | null>(null);
  const shown = theme.value;
  useEffect(() => {
    const canvas = place.current;
    if (!canvas) return;
    const paint = () => draw(canvas, props, cell);
    paint();
    const watch = new ResizeObserver(paint);
    watch.observe(canvas);
    return () => watch.disconnect();
  }, [props, cell, shown]);

  const at = (event: MouseEvent): Cell => {
    const around = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const column = Math.floor(((event.clientX - around.left) / around.width) * props.columns);
    const row = Math.floor((event.clientY - around.top) / props.cellHeight);
    return {
      row: Math.min(props.rows - 1, Math.max(0, row)),
      column: Math.min(props.columns - 1, Math.max(0, column)),
    };
  };
  const walk = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const from = cell ?? { row: 0, column: 0 };
    if (event.key === "Enter" && cell) props.choose?.(cell.row, cell.column);
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    setCell({
      row: Math.min(props.rows - 1, Math.max(0, from.row + (cell ? move[0] : 0))),
      column: Math.min(props.columns - 1, Math.max(0, from.column + (cell ? move[1] : 0))),
    });
  };
  return (
    <div class="heat">
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: its keys are its own */}
      <canvas
        ref={place}
        tabIndex={0}
        role="application"
        aria-label={`${props.label}; arrow keys walk over the cells`}
        style={{ height: `${props.rows * props.cellHeight}px` }}
        onMouseMove={(event) => setCell(at(event))}
        onMouseLeave={() => setCell(null)}
        onClick={(event) => {
          const which = at(event);
          props.choose?.(which.row, which.column);
        }}
        onKeyDown={walk}
      />
      <p class="description" aria-live="polite">
        {cell
          ? props.describe(cell.row, cell.column)
          : "Point at a cell, or walk with the arrow keys."}
      </p>
    </div>
  );
}
