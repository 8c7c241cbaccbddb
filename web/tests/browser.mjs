// What the tests of pages share: the browser, two screens, axe.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const screens = [
  { width: 1280, height: 900 },
  { width: 400, height: 800 },
];
/** For whatever must come: far more than it takes, since the machine may be busy. */
export const patience = { timeout: 120_000 };

/** The value behind `--name`; empty: it was not given. */
export function option(name) {
  const at = process.argv.indexOf(name);
  return at > 0 ? (process.argv[at + 1] ?? "") : "";
}

export function openBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}

/** A page of its own on that screen; whatever is done with it has the same patience. */
export async function openPage(browser, screen, theme) {
  const context = await browser.newContext({ viewport: screen, colorScheme: theme });
  context.setDefaultTimeout(patience.timeout);
  return { context, page: await context.newPage() };
}

/** What axe finds, in short; it goes past the policy of the page, which forbids every script. */
export async function faults(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const result = await window.axe.run(document, { resultTypes: ["violations"] });
    return result.violations.map((fault) => ({
      impact: fault.impact,
      text: `${fault.impact}: ${fault.id}: ${fault.nodes
        .slice(0, 3)
        .map((node) => node.target.join(" "))
        .join(" | ")}`,
    }));
  });
  return found
    .filter((fault) => fault.impact === "serious" || fault.impact === "critical")
    .map((fault) => fault.text);
}

/** Whether it becomes true within a while: a page draws after what was done to it. */
export async function eventually(check) {
  const deadline = Date.now() + patience.timeout;
  for (let isLast = false; !isLast; ) {
    isLast = Date.now() > deadline;
    if (await check()) return true;
    await new Promise((done) => setTimeout(done, 50));
  }
  return false;
}

/** By so many pixels the page is wider than the screen; then which elements are, in short. */
export function tooWide(page) {
  return page.evaluate(() => {
    const over = document.documentElement.scrollWidth - window.innerWidth;
    if (over <= 0) return "";
    const widest = [...document.querySelectorAll("body *")]
      .filter((each) => each.getBoundingClientRect().right > window.innerWidth + 1)
      .slice(0, 4)
      .map((each) => `${each.tagName.toLowerCase()}.${each.className}`);
    return `${over} pixels wider than the screen: ${widest.join(", ")}`;
  });
}

/** Prints what was found and sets the status of the process. */
export function conclude(problems) {
  for (const problem of problems) console.error(`web: FAILED: ${problem}`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
