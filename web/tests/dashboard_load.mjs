// What the dashboard of a running makeway costs under load (tools/bench-dashboard.sh):
//
//   node tests/dashboard_load.mjs ADDRESS PID [--viewers N] [--seconds S] [--page] [--rounds R]
//
// Processor time, not time, so that a busy machine tells about the same: by thread of the server,
// and of the page in a headless Chromium. Before a figure is printed its answer is checked: every
// viewer has every frame, the same frame is the same text for all, and what a viewer has put
// together is the state that a new one is given.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";

const [, , address, pidText] = process.argv;
const pid = Number(pidText);
const number = (name, standard) => {
  const at = process.argv.indexOf(name);
  return at > 0 ? Number(process.argv[at + 1]) : standard;
};
const viewersWanted = number("--viewers", 200);
const seconds = number("--seconds", 20);
const rounds = number("--rounds", 3);
const withPage = process.argv.includes("--page");
const { hostname, port } = new URL(address);
const ticksPerSecond = 100; // USER_HZ is 100 on Linux, whatever the kernel's own clock is.
const problems = [];

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- Processor time -----------------------------------------------------------------------------

function ticksOf(path) {
  try {
    const fields = readFileSync(path, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0; // It has ended.
  }
}

/** By name of the thread; the loop's is the process's first. */
function threadTicks() {
  const ticks = {};
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const comm = readFileSync(`/proc/${pid}/task/${task}/comm`, "utf8").trim();
    const name = task === String(pid) ? "loop" : comm;
    ticks[name] = (ticks[name] ?? 0) + ticksOf(`/proc/${pid}/task/${task}/stat`);
  }
  return ticks;
}

/** Of all processes below the browser's, by Chromium's word for what they do. */
function browserTicks() {
  const ticks = { renderer: 0, "gpu-process": 0 };
  const parents = new Map();
  for (const each of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${each}/stat`, "utf8").replace(/^.*\) /, "");
      parents.set(Number(each), Number(stat.split(" ")[1]));
    } catch {
      // It has ended.
    }
  }
  const isBelow = (each) => each === browserPid || (each > 1 && isBelow(parents.get(each) ?? 0));
  for (const each of parents.keys()) {
    if (browserPid === 0 || !isBelow(each)) continue;
    try {
      const line = readFileSync(`/proc/${each}/cmdline`, "utf8");
      const type = /--type=([a-z-]+)/.exec(line)?.[1];
      if (type in ticks) ticks[type] += ticksOf(`/proc/${each}/stat`);
    } catch {
      // It has ended.
    }
  }
  return ticks;
}
let browserPid = 0;

async function figures() {
  const text = await (await fetch(`${address}metrics`)).text();
  const value = (name) => {
    const found = new RegExp(`^${name} ([0-9.e+-]+)$`, "m").exec(text);
    return found ? Number(found[1]) : 0;
  };
  const buckets = [...text.matchAll(/^makeway_cycle_decide_seconds_bucket{le="(.+)"} (.+)$/gm)].map(
    ([, edge, count]) => [edge === "+Inf" ? Number.POSITIVE_INFINITY : Number(edge), Number(count)],
  );
  return {
    at: Date.now(),
    changes: value("makeway_changes_total"),
    cycles: value("makeway_cycles_total"),
    decided: value("makeway_cycle_decide_seconds_sum"),
    nodes: value("makeway_nodes"),
    pods: value("makeway_pods"),
    buckets,
  };
}

/** Within the bucket in a straight line. */
function quantile(before, after, share) {
  const counts = after.buckets.map(([edge, count], at) => [edge, count - before.buckets[at][1]]);
  const wanted = share * (counts.at(-1)?.[1] ?? 0);
  let [low, below] = [0, 0];
  for (const [edge, count] of counts) {
    if (count >= wanted && count > below) {
      const high = Number.isFinite(edge) ? edge : low;
      return low + ((high - low) * (wanted - below)) / (count - below);
    }
    [low, below] = [edge, count];
  }
  return low;
}

/** What was used between two moments, in percent of a core. */
async function measured(work) {
  const [before, threads, browser] = [await figures(), threadTicks(), browserTicks()];
  await work();
  const [after, threadsAfter, browserAfter] = [await figures(), threadTicks(), browserTicks()];
  const passed = (after.at - before.at) / 1000;
  const share = (ticks) => (100 * ticks) / ticksPerSecond / passed;
  const of = (name) => share((threadsAfter[name] ?? 0) - (threads[name] ?? 0));
  const cycles = after.cycles - before.cycles;
  const loopTicks = (threadsAfter.loop ?? 0) - (threads.loop ?? 0);
  return {
    changes: (after.changes - before.changes) / passed,
    cycles,
    meanUs: (1e6 * (after.decided - before.decided)) / Math.max(1, cycles),
    loopUs: (1e6 * loopTicks) / ticksPerSecond / Math.max(1, cycles),
    p50Us: 1e6 * quantile(before, after, 0.5),
    p99Us: 1e6 * quantile(before, after, 0.99),
    loop: of("loop"),
    server: of("makeway-follow") + of("makeway-http"),
    follower: of("makeway-follow"),
    http: of("makeway-http"),
    renderer: share(browserAfter.renderer - browser.renderer),
    gpu: share(browserAfter["gpu-process"] - browser["gpu-process"]),
  };
}

// ---- Viewers ------------------------------------------------------------------------------------

const digests = new Map(); // Of the text of each frame, and of each state, by kind and number.

function sameForAll(kind, frame, text) {
  const digest = createHash("sha256").update(text).digest("hex");
  const key = `${kind} ${frame}`;
  const known = digests.get(key);
  if (known === undefined) digests.set(key, digest);
  else if (known !== digest) problems.push(`${key} is not the same text for all`);
}

const keyOf = (row) => `${row[1]}/${row[0]}`;

/** What a page would know by now: written again here, so that it checks the page's way, too. */
function joined(before, changes) {
  const after = { ...before, ...changes };
  const rows = new Map(before.nodes.map((row) => [keyOf(row), row]));
  for (const row of changes.nodes ?? []) rows.set(keyOf(row), row);
  for (const key of changes.gone ?? []) rows.delete(key);
  delete after.gone;
  after.nodes = [...rows.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  after.feed = [...(changes.feed ?? []), ...before.feed].slice(0, 100);
  after.series = [...before.series, ...(changes.series ?? [])].slice(-600);
  return after;
}

const canonical = (state) => JSON.stringify(Object.entries(state).sort());

class Viewer {
  frames = 0;
  bytes = 0;
  last = -1; // The number of the last frame.
  state = null; // Only where `keeps`.
  text = "";

  constructor(keeps) {
    this.keeps = keeps;
    this.ready = new Promise((done) => {
      this.isReady = done;
    });
    this.socket = connect(Number(port), hostname);
    this.socket.setEncoding("latin1");
    this.socket.on("data", (part) => this.take(part));
    this.socket.on("error", (error) => problems.push(`a viewer: ${error.message}`));
    this.socket.on("close", () => {
      if (!this.isEnding) problems.push("a viewer was cut");
    });
    this.socket.write("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  take(part) {
    this.bytes += part.length;
    let from = Math.max(0, this.text.length - 1);
    this.text += part;
    for (let end = this.text.indexOf("\n\n", from); end >= 0; end = this.text.indexOf("\n\n")) {
      this.hear(this.text.slice(0, end));
      this.text = this.text.slice(end + 2);
      from = 0;
    }
  }

  hear(event) {
    const data = event.indexOf("data: ");
    if (data < 0) return; // A greeting.
    const json = event.slice(data + 6);
    const kind = /event: (\w+)/.exec(event)?.[1];
    const frame = Number(/"frame":(\d+)/.exec(json)?.[1] ?? -1);
    sameForAll(kind, frame, json);
    if (kind === "changes" && frame !== this.last + 1) {
      problems.push(`frame ${frame} came after ${this.last}`);
    }
    if (this.keeps) {
      const value = JSON.parse(json);
      this.state = kind === "state" ? value : joined(this.state, value);
    }
    if (kind === "state") this.first = frame;
    this.last = frame;
    this.frames += 1;
    if (kind === "state") this.isReady();
  }

  end() {
    this.isEnding = true;
    this.socket.destroy();
  }
}

async function until(what, isTrue) {
  for (let turn = 0; turn < 600; turn += 1) {
    if (isTrue()) return;
    await sleep(100);
  }
  problems.push(`waited in vain until ${what}`);
}

async function manyViewers() {
  const viewers = [];
  for (let at = 0; at < viewersWanted; at += 1) viewers.push(new Viewer(at < 5));
  await Promise.all(viewers.map((viewer) => viewer.ready));
  const first = viewers[0].frames;
  const used = await measured(() => sleep(seconds * 1000));
  used.frames = viewers[0].frames - first;
  const fresh = new Viewer(true);
  await fresh.ready;
  // They are compared where they stand at the same frame.
  for (const viewer of viewers.filter((each) => each.keeps)) {
    await until("a viewer is as far as the fresh one", () => {
      if (viewer.last !== fresh.last) return false;
      if (canonical(viewer.state) !== canonical(fresh.state)) {
        problems.push(`a viewer's state is not the fresh one at frame ${viewer.last}`);
      }
      return true;
    });
  }
  await until("all are as far as the fresh one was", () =>
    viewers.every((viewer) => viewer.last >= fresh.first),
  );
  const frames = viewers.map((viewer) => viewer.frames);
  const bytes = viewers.reduce((sum, viewer) => sum + viewer.bytes, 0);
  for (const viewer of [...viewers, fresh]) viewer.end();
  return { used, frames: Math.min(...frames), megabytes: bytes / 1e6 };
}

// ---- The page -----------------------------------------------------------------------------------

async function onePage() {
  const { chromium } = await import("playwright-core");
  const browserServer = await chromium.launchServer({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  browserPid = browserServer.process().pid ?? 0;
  const browser = await chromium.connect(browserServer.wsEndpoint());
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on("pageerror", (error) => problems.push(`the page: ${error.message}`));
    await page.goto(address);
    await page.locator(".heat canvas").first().waitFor({ timeout: 60_000 });
    await sleep(3000);
    const counter = new Viewer(false);
    await counter.ready;
    const first = counter.frames;
    const used = await measured(() => sleep(seconds * 1000));
    used.frames = counter.frames - first;
    counter.end();
    if ((await page.locator(".dot.on").count()) !== 1) problems.push("the page is not live");
    return used;
  } finally {
    await browser.close();
    await browserServer.close();
    browserPid = 0;
  }
}

// ---- Hostile clients ------------------------------------------------------------------------

/** A socket that may be closed by either side without an error. */
function rude(text, onClose) {
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.on("close", onClose ?? (() => {}));
  if (text) socket.write(text);
  return socket;
}

async function abuse(malformed) {
  let isOver = false;
  const held = new Set();
  const hold = (text, isSlow) => {
    if (isOver) return;
    const socket = rude(text, () => {
      held.delete(socket);
      setTimeout(() => hold(text, isSlow), 200); // Reconnect after a close.
    });
    if (isSlow) socket.pause();
    held.add(socket);
  };
  for (let at = 0; at < 1000; at += 1) hold("", false);
  for (let at = 0; at < 50; at += 1) {
    hold("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n", true);
    hold("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", true);
  }
  const whole =
    "POST /api/what-if?x=%zz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nkind:";
  const started = Date.now();
  for (let at = 0; at < malformed; at += 1) {
    const cut = (at * 7919) % whole.length;
    const text = `${whole.slice(0, cut)}${String.fromCharCode(at % 256)}${whole.slice(cut + 1)}`;
    const socket = rude(text);
    setTimeout(() => socket.destroy(), 500);
    // Spread over the time, so that every cycle of it has some.
    const due = started + (at * seconds * 1000) / malformed;
    if (due > Date.now()) await sleep(due - Date.now());
  }
  if (!(await fetch(`${address}healthz`)).ok) problems.push("the probe got no answer");
  isOver = true;
  for (const socket of held) socket.destroy();
}

// ---- All of it ----------------------------------------------------------------------------------

const fixed = (value, digits = 1) => value.toFixed(digits);
const row = (name, value, goal = "") => console.log(`| ${name} | ${value} | ${goal} |`);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const ratio = (pairs, what) => fixed(median(pairs.map(([a, b]) => b[what] / a[what])), 2);

const start = await figures();
const alone = await measured(() => sleep(seconds * 1000));
const page = withPage ? await onePage() : null;
const many = await manyViewers();
const pairs = [];
for (let round = 0; round < rounds; round += 1) {
  const quiet = await measured(() => sleep(seconds * 1000));
  const loud = await measured(() => abuse(Math.ceil(10_000 / rounds)));
  await sleep(1000);
  pairs.push([quiet, loud]);
  if (quiet.cycles === 0 || loud.cycles === 0)
    problems.push("nothing is decided: the load is over");
}
if (problems.length > 0) {
  console.error(
    [...new Set(problems)]
      .slice(0, 20)
      .map((text) => `WRONG: ${text}`)
      .join("\n"),
  );
  process.exit(1);
}
console.log("| what | figure | goal |\n|---|---|---|");
row("cluster", `${start.nodes} nodes, ${start.pods} pods`);
row("changes a second", fixed(alone.changes, 0), "100");
row("server's threads, no viewer", `${fixed(alone.server)} % of a core`);
if (page) {
  row("server's threads, one page", `${fixed(page.server)} % of a core`, "under 30");
  row("the page (renderer)", `${fixed(page.renderer)} % of a core`, "under 30");
  // On a busy machine there are fewer frames than two a second: then this is what counts.
  const milliseconds = (10 * page.renderer * seconds) / Math.max(1, page.frames);
  row(
    "the page for one frame",
    `${fixed(milliseconds, 0)} ms of processor time; two a second are ${fixed(milliseconds / 5)} %`,
    "under 30 %",
  );
  row("Chromium's drawing process beside it", `${fixed(page.gpu)} % of a core`);
}
row(
  `server's threads, ${viewersWanted} viewers`,
  `${fixed(many.used.server)} % of a core (follower ${fixed(many.used.follower)}, http ${fixed(many.used.http)})`,
  "under 30",
);
row(
  "the server for one frame to all of them",
  `${fixed((10 * many.used.server * seconds) / Math.max(1, many.used.frames), 0)} ms of processor time`,
);
row("frames that every viewer got", `${many.frames}, none missing`, "all");
row("sent to them", `${fixed(many.megabytes)} MB`);
row(
  "cycle's time with idle, slow and malformed, against without",
  `mean ${ratio(pairs, "meanUs")}, p50 ${ratio(pairs, "p50Us")}, p99 ${ratio(pairs, "p99Us")}, processor time ${ratio(pairs, "loopUs")}`,
  "1",
);
row(
  "cycles in these rounds",
  `${pairs.map(([a, b]) => `${a.cycles} and ${b.cycles}`).join(", ")}; p50 ${fixed(median(pairs.map(([a]) => a.p50Us)), 0)} us`,
);
row("server's threads meanwhile", `${fixed(median(pairs.map(([, b]) => b.server)))} % of a core`);
