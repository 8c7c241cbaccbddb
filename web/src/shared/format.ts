const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const few = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

export function count(value: number): string {
  return whole.format(value);
}

/** "1 pod", "2 pods" */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

export function amount(value: number): string {
  return few.format(value);
}

/** The two largest units: "3d 4h", "2h 10m", "45s". */
export function span(seconds: number): string {
  const units: [string, number][] = [
    ["d", 86_400],
    ["h", 3_600],
    ["m", 60],
    ["s", 1],
  ];
  const parts: string[] = [];
  let left = Math.max(0, Math.round(seconds));
  for (const [name, size] of units) {
    const times = Math.floor(left / size);
    left -= times * size;
    if (times > 0) parts.push(`${times}${name}`);
    if (parts.length === 2 || (parts.length === 1 && times === 0)) break;
  }
  return parts.length === 0 ? "0s" : parts.join(" ");
}

export function percent(permille: number): string {
  return `${few.format(permille / 10)} %`;
}

/** Bytes as people read them; other amounts in their unit. */
export function resourceAmount(resource: string, value: number): string {
  const isKnown = resource === "cpu" || resource === "memory";
  return isKnown ? bareAmount(resource, value) : `${amount(value)} ${resource}`;
}

/** The same where a heading names the resource already. */
export function bareAmount(resource: string, value: number): string {
  if (resource === "cpu") return `${amount(value / 1000)} cores`;
  if (resource !== "memory") return amount(value);
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  let left = value;
  while (left >= 1024 && at < units.length - 1) {
    left /= 1024;
    at += 1;
  }
  return `${amount(left)} ${units[at]}`;
}
