// What src/cli/simulate/simulate_page.cpp writes.
export interface Metric {
  label: string;
  unit: string;
  meaning: string;
  values: ({ text: string; best: boolean } | null)[]; // By run.
}

export interface Samples {
  seconds: number[];
  waiting: number[];
  running: number[];
  used: number[]; // Thousandths.
  preemptions: number[]; // So far.
}

export interface WaitRow {
  priority: string;
  runs: number[]; // By bound.
  never: number;
  p50?: string;
  p90?: string;
  p99?: string;
  max?: string;
}

export interface Decision {
  second: number;
  ask: string;
  priority?: number; // Queues have none.
  outcome: string;
  waited: number;
  place: string;
  victims: number;
  podSeconds: number;
  gpuSeconds: number;
  reason: string;
  rule: string;
  alternative: string;
  key: string;
  first: { name: string; node: string; priority: number; reason: string }[];
}

export interface Run {
  name: string;
  partial: boolean;
  scarce: string;
  start: string;
  seconds: number;
  samples: Samples;
  waits: WaitRow[];
  matrix: { askers: string[]; victims: string[]; counts: number[][] };
  nodes: { rows: string[]; seconds: number[]; used: (number | null)[][] };
  queues: {
    all: number;
    more: boolean;
    unit: string;
    divisor: number;
    seconds: number[];
    rows: { name: string; used: (number | null)[]; deserved: (number | null)[] }[];
  };
  slowest: Decision[];
  mostDisruptive: Decision[];
}

export interface Report {
  load: string;
  nodes: number;
  tasks: number;
  pods: number;
  notes: string[];
  cycleMs: number;
  waitBoundsMs: number[];
  metrics: Metric[];
  runs: Run[];
}
