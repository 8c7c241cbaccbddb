import { signal } from "@preact/signals";
import { Choice } from "../shared/choice";
import { count, counted, percent, resourceAmount } from "../shared/format";
import { Section } from "../shared/frame";
import { Heat } from "../shared/heat";
import type { Board, NodeRow } from "./types";

const fewNodes = 40;
const colours = 6;
const fixed = 5; // Numbers of a row before those of its first resource, its names included.
export const resource = signal(0);
const opened = signal("");

interface Use {
  room: number;
  leaving: number;
  bands: number[];
  used: number;
}

export function useOf(row: NodeRow, which: number, bands: number): Use {
  const at = fixed + which * (2 + bands);
  const numbers = row.slice(at, at + 2 + bands) as number[];
  const leaving = numbers[1] ?? 0;
  const held = numbers.slice(2);
  return {
    room: numbers[0] ?? 0,
    leaving,
    bands: held,
    used: held.reduce((sum, each) => sum + each, leaving),
  };
}

function permille(use: Use): number {
  return use.room > 0 ? Math.round((1000 * use.used) / use.room) : use.used > 0 ? 1000 : 0;
}

/** Few bands are spread over the scale, so that neighbours can be distinguished. */
function step(band: number, bands: number): number {
  return bands <= 1 ? colours - 1 : Math.round((band * (colours - 1)) / (bands - 1));
}

function bandText(bands: number[], at: number): string {
  const next = bands[at + 1];
  const from = bands[at] ?? 0;
  if (next === undefined) return bands.length < colours ? `${from}` : `${from} and above`;
  return bands.length < colours || next - 1 === from ? `${from}` : `${from} to ${next - 1}`;
}

function fullName(row: NodeRow): string {
  return row[1] ? `${row[1]}: ${row[0]}` : row[0];
}

function remarks(row: NodeRow): string[] {
  const flags = (row[2] as number) ?? 0;
  return [
    ...(flags & 1 ? ["cordoned"] : []),
    ...(flags & 2 ? ["sessions"] : []),
    ...(flags & 4 ? ["replicas"] : []),
  ];
}

function labelOf(row: NodeRow, board: Board): string {
  const name = board.resources[resource.value] ?? "";
  const use = useOf(row, resource.value, board.bands.length);
  const parts = use.bands
    .map((amount, at) => ({ amount, at }))
    .filter(({ amount }) => amount > 0)
    .map(
      ({ amount, at }) => `priority ${bandText(board.bands, at)}: ${resourceAmount(name, amount)}`,
    )
    .reverse();
  if (use.leaving > 0) parts.push(`leaving: ${resourceAmount(name, use.leaving)}`);
  const marks = remarks(row);
  return `${fullName(row)}: ${percent(permille(use))} of ${resourceAmount(name, use.room)} in use by ${counted(
    row[3] ?? 0,
    "pod",
  )}${parts.length > 0 ? ` (${parts.join(", ")})` : ""}${marks.length > 0 ? `; ${marks.join(", ")}` : ""}`;
}

function Bar(props: { row: NodeRow; board: Board; name?: string }) {
  const { row, board } = props;
  const use = useOf(row, resource.value, board.bands.length);
  const whole = Math.max(use.room, use.used, 1);
  const width = (amount: number) => ({ width: `${(100 * amount) / whole}%` });
  const label = labelOf(row, board);
  return (
    <li class="bar-row">
      <span class="bar-name">
        {props.name ?? fullName(row)}
        {remarks(row).map((text) => (
          <span key={text} class="tag">
            {text}
          </span>
        ))}
      </span>
      <span class="bar" role="img" aria-label={label} data-tip={label}>
        {use.bands
          .map((amount, at) => ({ amount, at }))
          .reverse()
          .map(({ amount, at }) =>
            amount > 0 ? (
              <span
                key={at}
                class={`part p${step(at, board.bands.length)}`}
                style={width(amount)}
              />
            ) : null,
          )}
        {use.leaving > 0 ? <span class="part leaving" style={width(use.leaving)} /> : null}
      </span>
      <span class="bar-sum">{use.room > 0 ? percent(permille(use)) : "none"}</span>
    </li>
  );
}

function Legend(props: { board: Board }) {
  const { bands } = props.board;
  return (
    <ul class="legend">
      <li class="note">Priority:</li>
      {bands.map((band, at) => (
        <li key={band}>
          <span class={`key part p${step(at, bands.length)}`} />
          {bandText(bands, at)}
        </li>
      ))}
      <li>
        <span class="key part leaving" />
        leaving
      </li>
    </ul>
  );
}

/** All nodes as one: sums of their numbers. */
function total(board: Board): NodeRow {
  const sum = board.nodes[0]?.slice(2).map(() => 0) ?? [];
  for (const row of board.nodes) {
    for (let at = 1; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) + Number(row[at + 2] ?? 0);
  }
  return ["All nodes", "", ...sum];
}

function ManyNodes(props: { board: Board }) {
  const { board } = props;
  const { nodes } = board;
  const columns = Math.min(
    window.innerWidth < 600 ? 40 : 100,
    Math.ceil(Math.sqrt(nodes.length * 3)),
  );
  const rows = Math.ceil(nodes.length / columns);
  const at = (row: number, column: number) => nodes[row * columns + column];
  const name = board.resources[resource.value] ?? "";
  const open = nodes.find((row) => fullName(row) === opened.value);
  return (
    <>
      <p class="note">
        Each cell is a node, in the order of names: the stronger its colour, the more of its {name}{" "}
        is in use. Click a cell, or press Enter, to see it as a bar.
      </p>
      <Heat
        label={`Use of ${name} by node`}
        columns={columns}
        rows={rows}
        cellHeight={nodes.length > 1500 ? 9 : 14}
        value={(row, column) => {
          const which = at(row, column);
          return which ? permille(useOf(which, resource.value, board.bands.length)) : null;
        }}
        describe={(row, column) => {
          const which = at(row, column);
          return which ? labelOf(which, board) : "";
        }}
        choose={(row, column) => {
          const which = at(row, column);
          opened.value = which ? fullName(which) : "";
        }}
      />
      {open ? (
        <ul class="bars">
          <Bar row={open} board={board} />
        </ul>
      ) : null}
    </>
  );
}

export function ClusterMap(props: { board: Board }) {
  const { board } = props;
  const few = board.nodes.length <= fewNodes;
  if (resource.value >= board.resources.length) resource.value = 0;
  return (
    <Section id="map" title="Cluster">
      {board.nodes.length === 0 ? (
        <p class="empty">There is no node yet.</p>
      ) : (
        <>
          <Choice label="Resource" names={board.resources} value={resource} />
          <Legend board={board} />
          <ul class="bars">
            {few && board.nodes.length === 1 ? null : (
              <Bar row={total(board)} board={board} name={`All ${count(board.nodes.length)}`} />
            )}
            {few
              ? board.nodes.map((row) => <Bar key={fullName(row)} row={row} board={board} />)
              : null}
          </ul>
          {few ? null : <ManyNodes board={board} />}
        </>
      )}
    </Section>
  );
}
