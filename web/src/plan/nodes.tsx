import { useState } from "preact/hooks";
import { count, percent } from "../shared/format";
import { Heat } from "../shared/heat";
import { type BarContext, NodeBars, share } from "./bars";
import type { Ask, PlanNode } from "./types";

const few_nodes = 40;
const bars_at_once = 12; // Of many.

function names(text: string): string[] {
  return text.split(", ");
}

/** What the chosen ask has to do with each node. */
function marks(ask: Ask | undefined, other: number): Map<string, string> {
  const result = new Map<string, string>();
  if (!ask) return result;
  for (const place of ask.waitsFor) result.set(place.node, "waited for");
  for (const victim of ask.victims) result.set(victim.node, "pods leave");
  for (const place of ask.places) result.set(place.node, "chosen");
  const alternative = ask.alternatives[other];
  if (alternative) {
    for (const name of names(alternative.node)) {
      const mark = result.get(name);
      result.set(name, mark ? `alternative, ${mark}` : "alternative");
    }
  }
  return result;
}

export function Bars(props: {
  nodes: PlanNode[];
  ask: Ask | undefined;
  other: number;
  at: BarContext;
}) {
  const { nodes, at } = props;
  const few = nodes.length <= few_nodes;
  const [limit, setLimit] = useState(few ? few_nodes : bars_at_once);
  const [open, setOpen] = useState("");
  const marked = marks(props.ask, props.other);
  const rank = (node: PlanNode) =>
    marked.has(node.name)
      ? marked.get(node.name) === "chosen"
        ? 0
        : 1
      : node.name === open && !node.touched
        ? 2
        : node.touched
          ? 3
          : 4;
  const listed = nodes
    .filter((node) => few || marked.has(node.name) || node.touched || node.name === open)
    .map((node, order) => ({ node, order }))
    .sort((a, b) => rank(a.node) - rank(b.node) || a.order - b.order)
    .map(({ node }) => node);
  return (
    <>
      <ul class="nodes">
        {listed.slice(0, limit).map((node) => (
          <NodeBars
            key={node.name}
            node={node}
            mark={marked.get(node.name) ?? ""}
            open={open === node.name}
            choose={() => setOpen(open === node.name ? "" : node.name)}
            at={at}
          />
        ))}
      </ul>
      {listed.length === 0 ? <p class="empty">The plan touches no node.</p> : null}
      {listed.length > limit ? (
        <button type="button" class="more" onClick={() => setLimit(limit + few_nodes)}>
          Show more ({count(listed.length - limit)} left)
        </button>
      ) : null}
      {few ? null : (
        <AllNodes nodes={nodes} at={at} choose={(name) => setOpen(name)} chosen={open} />
      )}
    </>
  );
}

function AllNodes(props: {
  nodes: PlanNode[];
  at: BarContext;
  chosen: string;
  choose: (name: string) => void;
}) {
  const { nodes, at } = props;
  const columns = Math.min(60, Math.max(10, Math.ceil(Math.sqrt(nodes.length * 2))));
  const rows = Math.ceil(nodes.length / columns);
  const node = (row: number, column: number) => nodes[row * columns + column];
  const resource = at.resources[at.resource] ?? "";
  const opened = nodes.find((each) => each.name === props.chosen && !each.touched);
  return (
    <>
      <h3>All {count(nodes.length)} nodes</h3>
      <p class="note">
        Each cell is a node, by name, coloured by how much of its {resource} is in use; a ring marks
        those that the plan touches. Click or press Enter to see one as a bar above.
      </p>
      <Heat
        label={`Use of ${resource} by node`}
        columns={columns}
        rows={rows}
        cellHeight={14}
        value={(row, column) => {
          const which = node(row, column);
          return which ? share(which, at.resource, ["stays", "leaving", "goes"]) : null;
        }}
        describe={(row, column) => {
          const which = node(row, column);
          if (!which) return "";
          const now = share(which, at.resource, ["stays", "leaving", "goes"]);
          const touched = which.touched ? "; the plan touches it" : "";
          return `${which.name}: ${percent(now)} of its ${resource} in use${touched}`;
        }}
        marked={(row, column) => node(row, column)?.touched ?? false}
        choose={(row, column) => props.choose(node(row, column)?.name ?? "")}
      />
      {opened ? <p class="note">{opened.name} is shown as a bar above.</p> : null}
    </>
  );
}
