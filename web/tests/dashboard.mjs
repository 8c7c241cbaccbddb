// Opens the dashboard of a running makeway in a headless Chromium, in both themes and two widths:
//
//   node tests/dashboard.mjs ADDRESS [--pictures FOLDER] [--journal] [--token TOKEN]
//
// It must throw nothing, ask nobody but its server, be no wider than the screen, show live nodes,
// answer why and what-if, obey the keyboard, and have no serious fault by axe.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const address = process.argv[2] ?? "";
const option = (name) => {
  const at = process.argv.indexOf(name);
  return at > 0 ? (process.argv[at + 1] ?? "") : "";
};
const pictures = option("--pictures") ? resolve(option("--pictures")) : "";
const token = option("--token");
const hasJournal = process.argv.includes("--journal");
const screens = [
  { width: 1280, height: 900 },
  { width: 400, height: 800 },
];
const patience = { timeout: 30_000 };
const manifest = `apiVersion: v1
kind: Pod
metadata: {name: "what-if-pod", namespace: shop}
spec:
  priority: 1000000
  containers: [{name: c, resources: {requests: {cpu: "1"}}}]
`;
const problems = [];

async function faults(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const result = await window.axe.run(document, { resultTypes: ["violations"] });
    return result.violations.map((fault) => ({
      text: `${fault.impact}: ${fault.id}: ${fault.nodes
        .slice(0, 3)
        .map((node) => node.target.join(" "))
        .join(" | ")}`,
      impact: fault.impact,
    }));
  });
  return found.filter((each) => each.impact === "serious" || each.impact === "critical");
}

async function check(page, say, what, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (wide > 0) say(`${what}: ${wide} pixels wider than the screen`);
  if (pictures) {
    await page.screenshot({
      path: join(pictures, `dashboard-${what}-${name}.png`),
      fullPage: true,
    });
  }
  for (const fault of await faults(page)) say(`${what}: axe: ${fault.text}`);
}

/** The radio button of a view, by the keyboard. */
async function show(page, view) {
  await page.getByRole("radio", { name: view, exact: true }).focus();
  await page.keyboard.press("Space");
}

async function lookAtNow(page, say) {
  await page.locator(".bar .part, .heat canvas").first().waitFor(patience);
  await page.locator(".lead .note", { hasText: "live" }).first().waitFor(patience);
  if ((await page.locator(".tile").count()) < 8) say("figures are missing");
  if ((await page.locator(".uplot").count()) < 3) say("fewer than three plots");
  for (const plot of await page.locator(".uplot").all()) {
    await plot.and(page.locator(':not([data-points="0"])')).waitFor(patience);
  }
}

async function lookAtWhy(page) {
  const named = page.locator("button.named").first(); // Somebody who waits or was preempted.
  await named.evaluate((each) => each.click(), undefined, patience); // At once: rows come and go.
  await page.locator("#why .story, #why .told-error").first().waitFor(patience);
}

async function lookAtWhatIf(page, say) {
  await show(page, "What if");
  await page.locator("#what-if textarea").fill(manifest);
  await page.getByRole("button", { name: "Decide" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("#asks, #what-if .told-error").first().waitFor(patience);
  const error = page.locator("#what-if .told-error");
  if ((await error.count()) > 0) say(`what-if: ${await error.first().textContent()}`);
  else if (!(await page.locator("#asks").textContent()).includes("what-if-pod")) {
    say("the plan does not name the pod of the manifest");
  }
}

async function lookBack(page, say) {
  await show(page, "Look back");
  if (!hasJournal) {
    const told = await page.locator("#look-back .empty").textContent(patience);
    if (!told.includes("--journal")) say(`without a journal it says: ${told}`);
    return;
  }
  await page.locator("#asks").waitFor(patience);
  await page.locator(".slider").focus();
  await page.keyboard.press("ArrowLeft");
  await page.locator("#look-back select").selectOption("kube-1.37");
  await page.locator("#look-back legend", { hasText: "Decided by" }).waitFor(patience);
}

async function giveToken(page, say) {
  const input = page.locator("input[type=password]");
  await input.waitFor(patience);
  if ((await page.locator(".tile").count()) > 0) say("figures are shown without a token");
  await input.fill(token);
  await page.keyboard.press("Enter");
}

async function look(browser, screen, theme) {
  const name = `${screen.width}-${theme}`;
  const say = (text) => problems.push(`dashboard (${name}): ${text}`);
  const context = await browser.newContext({ viewport: screen, colorScheme: theme });
  const page = await context.newPage();
  page.on("pageerror", (error) => say(`script error: ${error.message}`));
  page.on("console", (line) => {
    const isRefusal = token && line.text().includes("401");
    const isGone = line.text().includes("404") && line.location().url.includes("/api/why"); // Left.
    if (line.type() === "error" && !isRefusal && !isGone) {
      say(`console: ${line.text()} ${line.location().url}`);
    }
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(address)) say(`a request to ${request.url()}`);
  });
  await page.goto(address, { waitUntil: "load" });
  if (token) await giveToken(page, say);
  await lookAtNow(page, say);
  await check(page, say, "now", name);
  await lookAtWhy(page);
  await check(page, say, "why", name);
  await lookAtWhatIf(page, say);
  await check(page, say, "what-if", name);
  await lookBack(page, say);
  await check(page, say, "look-back", name);
  if ((await page.evaluate(() => window.hostile)) !== undefined) say("data became a script");
  await context.close();
  console.log(`web: dashboard (${screen.width} px, ${theme})`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
try {
  for (const screen of screens) {
    await Promise.all(["light", "dark"].map((theme) => look(browser, screen, theme)));
  }
} catch (error) {
  problems.push(`dashboard: ${error.message}`);
} finally {
  await browser.close();
}
for (const problem of problems) console.error(`web: FAILED: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
