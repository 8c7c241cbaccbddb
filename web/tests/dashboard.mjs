// Opens the dashboard of a running makeway in a headless Chromium, in both themes and two widths:
//
//   node tests/dashboard.mjs ADDRESS [--pictures FOLDER] [--journal] [--token TOKEN] [--all-kinds]
//
// --journal: the run keeps one. --all-kinds: it has queues, sessions and planes.
// It must throw nothing, send requests only to its server, be no wider than the screen, show live nodes,
// answer why and what-if, take files up to a size, obey the keyboard, and have no serious fault by axe.
import { join, resolve } from "node:path";
import {
  conclude,
  eventually,
  faults,
  openBrowser,
  openPage,
  option,
  patience,
  screens,
  tooWide,
} from "./browser.mjs";

const address = process.argv[2] ?? "";
const pictures = option("--pictures") ? resolve(option("--pictures")) : "";
const token = option("--token");
const hasJournal = process.argv.includes("--journal");
const hasAllKinds = process.argv.includes("--all-kinds");
const manifest = `apiVersion: v1
kind: Pod
metadata: {name: "what-if-pod", namespace: shop}
spec:
  priority: 1000000
  containers: [{name: c, resources: {requests: {cpu: "1"}}}]
`;
const problems = [];

async function check(page, say, what, name) {
  const wide = await tooWide(page);
  if (wide) say(`${what}: ${wide}`);
  if (pictures) {
    const load = hasAllKinds ? "all-kinds-" : "";
    await page.screenshot({
      path: join(pictures, `dashboard-${load}${what}-${name}.png`),
      fullPage: true,
    });
  }
  for (const fault of await faults(page)) say(`${what}: axe: ${fault}`);
}

/** The radio button of a view, by the keyboard. */
async function show(page, view) {
  await page.getByRole("radio", { name: view, exact: true }).focus();
  await page.keyboard.press("Space");
}

async function lookAtNow(page, say) {
  await page.locator(".bar .part, .heat canvas").first().waitFor(patience);
  await page.locator(".lead .note", { hasText: "live" }).first().waitFor(patience);
  const tiles = page.locator(".tile");
  if (!(await eventually(async () => (await tiles.count()) >= 8))) say("figures are missing");
  await page.locator(".uplot").nth(2).waitFor(patience); // Drawn after the rest: three.
  for (const plot of await page.locator(".uplot").all()) {
    await plot.and(page.locator(':not([data-points="0"])')).waitFor(patience);
  }
}

/** Rows with names and numbers; the meaning of a heading is available to the keyboard, too. */
async function lookAtAllKinds(page, say) {
  for (const section of ["queues", "sessions", "planes"]) {
    const row = page.locator(`#${section} tbody tr`).first();
    await row.waitFor(patience);
    let cells = []; // Read in one go: rows come and go.
    const isShown = await eventually(async () => {
      cells = await row.locator("th, td").allInnerTexts();
      return (cells[0] ?? "").trim() && cells.some((cell) => /\d/.test(cell));
    });
    if (!isShown) say(`${section}: the first row has no name or no number: ${cells.join(", ")}`);
  }
  for (const name of ["home", "plane-1", "plane-2"]) {
    const heads = page.locator("#planes tbody th");
    const isThere = await eventually(async () => (await heads.allInnerTexts()).includes(name));
    if (!isThere) say(`planes: ${name} is not among ${(await heads.allInnerTexts()).join(", ")}`);
  }
  const tip = page.locator(".tip-box");
  const isTipShown = await eventually(async () => {
    await page.locator("#queues button.term").first().focus();
    return tip.isVisible();
  });
  if (!isTipShown) say("queues: the focus shows no tooltip");
  await page.keyboard.press("Escape");
}

async function lookAtWhy(page) {
  const named = page.locator("button.named").first(); // A waiting or preempted object.
  await named.evaluate((each) => each.click(), undefined, patience); // At once: rows come and go.
  await page.locator("#why .story, #why .error-text").first().waitFor(patience);
}

async function lookAtWhatIf(page, say) {
  await show(page, "What if");
  await page.locator("#what-if textarea").fill(manifest);
  await page.getByRole("button", { name: "Decide", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.locator("#asks, #what-if .error-text").first().waitFor(patience);
  const error = page.locator("#what-if .error-text");
  if ((await error.count()) > 0) say(`what-if: ${await error.first().textContent()}`);
  else {
    const chosen = page.locator("#asks button[aria-pressed=true]", { hasText: "what-if-pod" });
    if (!(await eventually(() => chosen.count()))) {
      say("the plan does not begin with the pod of the manifest");
    }
  }
}

/** A file that is dropped beside the box is taken; a manifest that is too long is reported as such. */
async function lookAtFiles(page, say) {
  const dropped = await page.evaluateHandle(
    (text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "pod.yaml", { type: "application/yaml" }));
      return data;
    },
    manifest.replace("what-if-pod", "dropped-pod"),
  );
  await page.locator("h1").dispatchEvent("drop", { dataTransfer: dropped });
  const box = page.locator("#what-if textarea");
  if (!(await eventually(async () => (await box.inputValue()).includes("dropped-pod")))) {
    say("a file that is dropped is not taken");
  }
  const decide = page.getByRole("button", { name: "Decide", exact: true });
  await box.fill(`# ${"x".repeat(1 << 20)}`);
  await decide.click();
  const error = page.locator("#what-if .error-text");
  await error.filter({ hasText: "at most 1 MiB" }).waitFor(patience);
  if ((await page.locator("#asks").count()) > 0) say("an old plan stands beside the error");
  // What is just short enough is decided: the server's limit is the same.
  const rest = (1 << 20) - new TextEncoder().encode(`${manifest}#`).length;
  await box.fill(`${manifest}#${"x".repeat(rest)}`);
  await decide.click();
  await page.locator("#asks", { hasText: "what-if-pod" }).waitFor(patience);
}

async function lookBack(page, say) {
  await show(page, "Look back");
  if (!hasJournal) {
    const text = await page.locator("#look-back .empty").textContent(patience);
    if (!text.includes("--journal")) say(`without a journal it says: ${text}`);
    return;
  }
  await page.locator("#asks").waitFor(patience);
  await page.locator(".slider").focus();
  await page.keyboard.press("ArrowLeft");
  await page.locator("#look-back select").selectOption("kube-1.37");
  await page.locator("#look-back legend", { hasText: "Decided by" }).waitFor(patience);
  await page.locator("#look-back p.note", { hasText: "by kube-1.37" }).waitFor(patience);
  const isShown = await eventually(() => page.locator("#asks").isVisible());
  if (!isShown) say("what another preset decided is not shown");
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
  const { context, page } = await openPage(browser, screen, theme);
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
  if (hasAllKinds) await lookAtAllKinds(page, say);
  await check(page, say, "now", name);
  await lookAtWhy(page);
  await check(page, say, "why", name);
  await lookAtWhatIf(page, say);
  await check(page, say, "what-if", name);
  await lookAtFiles(page, say);
  await lookBack(page, say);
  await check(page, say, "look-back", name);
  if ((await page.evaluate(() => window.hostile)) !== undefined) say("data became a script");
  await context.close();
  console.log(`web: dashboard (${screen.width} px, ${theme})`);
}

const browser = await openBrowser();
try {
  for (const screen of screens) {
    await Promise.all(["light", "dark"].map((theme) => look(browser, screen, theme)));
  }
} catch (error) {
  problems.push(`dashboard: ${error.message}`);
} finally {
  await browser.close();
}
conclude(problems);
