import { signal } from "@preact/signals";
import { parsed } from "../shared/harmless";
import { ask, needsToken, whatWentWrong } from "./ask_server";
import type { Board, Changes, NodeRow, Preemption, Sample } from "./types";

const feedMax = 100;
const samplesMax = 600;
const againMs = 2_000;

export const board = signal<Board | null>(null);
export const isConnected = signal(false);
export const refusal = signal(""); // Why the server does not show it.

function keyOf(row: NodeRow): string {
  return `${row[1]}/${row[0]}`;
}

function joinNodes(before: NodeRow[], changes: Changes): NodeRow[] {
  if (!changes.nodes) return before;
  const rows = new Map(before.map((row) => [keyOf(row), row]));
  for (const row of changes.nodes) rows.set(keyOf(row), row);
  for (const key of changes.gone ?? []) rows.delete(key);
  const sorted = [...rows.values()];
  if (rows.size !== before.length) {
    const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
    sorted.sort((a, b) => order(a[1], b[1]) || order(a[0], b[0]));
  }
  return sorted;
}

function joinFeed(before: Preemption[], added: Preemption[]): Preemption[] {
  const last = before[0]?.id ?? 0;
  return [...added.filter((each) => each.id > last), ...before].slice(0, feedMax);
}

function joinSeries(before: Sample[], added: Sample[]): Sample[] {
  const last = before.at(-1)?.[0] ?? 0;
  return [...before, ...added.filter((each) => (each[0] ?? 0) > last)].slice(-samplesMax);
}

/** A frame says what changed; applied twice, it changes nothing more. */
export function joined(before: Board, changes: Changes): Board {
  return {
    ...before,
    ...changes,
    nodes: joinNodes(before.nodes, changes),
    feed: joinFeed(before.feed, changes.feed ?? []),
    series: joinSeries(before.series, changes.series ?? []),
  };
}

function take(event: string, data: string): void {
  if (event === "state") board.value = parsed<Board>(data);
  else if (board.value) board.value = joined(board.value, parsed<Changes>(data));
}

/** Server-sent events by hand: EventSource cannot send a token. */
async function read(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(name))?.slice(name.length) ?? "";
      const data = field("data: ");
      if (data) take(field("event: "), data);
    }
  }
}

async function connect(): Promise<void> {
  const answer = await ask("/api/events");
  refusal.value = "";
  if (!answer.ok || !answer.body) {
    refusal.value = await whatWentWrong(answer);
    return;
  }
  isConnected.value = true;
  await read(answer.body);
}

/** Without a token there is no use in asking again. */
function tokenGiven(): Promise<void> {
  return new Promise((done) => {
    needsToken.subscribe((needs) => {
      if (!needs) done();
    });
  });
}

/** For ever: after a lost connection or a restart it reconnects and gets everything first. */
export async function follow(): Promise<void> {
  while (true) {
    await connect().catch(() => undefined);
    isConnected.value = false;
    if (needsToken.value) await tokenGiven();
    else await new Promise((done) => setTimeout(done, againMs));
  }
}
