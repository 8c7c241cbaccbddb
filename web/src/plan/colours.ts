import type { Plan } from "./types";

export const steps = 6;

/** Which colour a priority has: by its rank, so that every plan uses all of them. */
export class Colours {
  private readonly ranked: number[];

  constructor(plan: Plan) {
    const all = new Set<number>();
    for (const node of plan.nodes) for (const part of node.parts) all.add(part[1] ?? 0);
    this.ranked = [...all].sort((a, b) => a - b);
  }

  step(priority: number): number {
    const rank = this.ranked.indexOf(priority);
    const last = Math.max(1, this.ranked.length - 1);
    const wide = this.ranked.length <= steps;
    // Few priorities are spread over the scale, so that neighbours can be distinguished.
    return wide
      ? Math.round((Math.max(0, rank) * (steps - 1)) / last)
      : Math.floor((Math.max(0, rank) * steps) / this.ranked.length);
  }

  /** What each colour stands for, lowest first. */
  legend(): { step: number; text: string }[] {
    const bySteps = new Map<number, number[]>();
    for (const priority of this.ranked) {
      const step = this.step(priority);
      bySteps.set(step, [...(bySteps.get(step) ?? []), priority]);
    }
    return [...bySteps].map(([step, all]) => ({
      step,
      text: all.length === 1 ? `${all[0]}` : `${all[0]} to ${all.at(-1)}`,
    }));
  }
}
