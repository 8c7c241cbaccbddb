// What src/server/board*.cpp and src/cli/dashboard write.

export interface Run {
  now: number;
  preset: string;
  carriesOut: boolean;
  begun: boolean;
  behind: boolean;
}

export interface Counters {
  nodes: number;
  pods: number;
  waiting: number;
  leaving: number;
  cycles: number;
  preemptions: number;
  victims: number;
  binds: number;
  refused: number;
  p50: number;
  p99: number;
}

export interface WaitingAsk {
  kind: string;
  namespace: string;
  name: string;
  priority: number;
  pods: number;
  since?: number;
  outcome: string;
  reason: string;
}

export interface Victim {
  who: string;
  node: string;
  priority: number;
  reason: string;
}

export interface Preemption {
  id: number;
  when: number;
  cycle: number;
  ask: string;
  priority: number;
  node: string;
  alternative: string;
  key: string;
  count: number;
  victims: Victim[];
}

export interface Share {
  resource: string;
  deserved: number;
  allocated: number;
  used: number;
  demand: number;
  preempting: number;
}

export interface Queue {
  name: string;
  parent: string;
  weight: number;
  shares: Share[];
}

export interface Session {
  namespace: string;
  name: string;
  group: string;
  partition: string;
  priority: number;
  phase: string;
  kernels: number;
  preemptions: number;
  preemptedBy: string;
  created?: number;
  endsAt?: number;
}

export interface Plane {
  name: string;
  nodes: number;
  pods: number;
  room: number[];
  used: number[];
}

/** Name, plane, flags, pods and kernels, how many leave; for each resource room, leaving, and every band. */
export type NodeRow = [string, string, ...number[]];

/** When, waiting, preemptions, median and 99th percentile of a decision, use of each resource. */
export type Sample = number[];

export interface Rows<T> {
  count: number;
  rows: T[];
}

export interface Board {
  frame: number;
  run: Run;
  counters: Counters;
  asks: Rows<WaitingAsk>;
  queues: Rows<Queue>;
  sessions: Rows<Session>;
  planes: Plane[];
  feed: Preemption[];
  series: Sample[];
  resources: string[];
  bands: number[];
  nodes: NodeRow[];
}

export type Changes = Partial<Board> & { gone?: string[] };

/** What the page is born with. */
export interface Facts {
  journal: boolean;
  presets: string[];
}
