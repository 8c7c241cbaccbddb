// What src/cli/plan/plan_page.cpp writes.
export const fates = ["stays", "leaving", "goes", "comes"] as const;
export type Fate = (typeof fates)[number];

/** Fate, priority, pods, then an amount for each resource. */
export type Part = number[];
/** Name, fate, priority, then an amount for each resource. */
export type Pod = [string, number, number, ...number[]];

export interface PlanNode {
  name: string;
  closed?: boolean;
  touched?: boolean;
  room: number[];
  parts: Part[];
  pods?: Pod[];
}

export interface Place {
  pod: string;
  node: string;
}

export interface Victim extends Place {
  priority: number;
  reason: string;
  rule: string;
  alternative: string;
  key: string;
}

export interface Ask {
  name: string;
  priority: number;
  outcome: string;
  reason: string;
  pending?: number;
  places: Place[];
  placesAll: number;
  waitsFor: Place[];
  victims: Victim[];
  victimsAll: number;
  cost: string;
  alternatives: { node: string; domain: string; victims: number; lostOn: string }[];
  refusals: { text: string; nodes: number; example: string }[];
}

export interface Plan {
  id: string;
  preset: string;
  totals: string;
  cost: string;
  withheld: string;
  leftOut: number;
  resources: string[];
  nodes: PlanNode[];
  asksAll: number;
  asks: Ask[];
}
