// Opens pages in a headless Chromium, in both themes and two widths, and looks at them as a person
// with a pointer, with a keyboard and with a screen reader would:
//
//   node tests/pages.mjs FOLDER [--pictures FOLDER] [--open-ms N]     every *.html of the folder
//
// --open-ms: one page after the other, and the fastest must open within that many milliseconds:
// what else the machine does only makes it slower.
// A page must throw nothing, send no requests, be no wider than the screen, have its data
// drawn, obey the keyboard, and have no serious fault by axe.
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
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

const folder = resolve(process.argv[2] ?? ".");
const pictures = option("--pictures") ? resolve(option("--pictures")) : "";
// Far more than it takes: the machine may be busy. The figure is printed.
const openMsMax = Number(option("--open-ms") || 60_000);
const isAlone = option("--open-ms") !== ""; // Measurements open one page after the other.
const opened = []; // Milliseconds.
const problems = [];

/** True where some pixel of the canvas has a colour of its own. */
function isDrawn(canvas) {
  const pen = canvas.getContext("2d");
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  for (let byte = 3; byte < data.length; byte += 4) if (data[byte] !== 0) return true;
  return false;
}

async function lookAtReport(page, say) {
  const plots = page.locator(".uplot");
  const areThere = await eventually(async () => (await plots.count()) >= 3);
  if (!areThere) say("fewer than three plots");
  for (const plot of await plots.all()) {
    const points = await plot.getAttribute("data-points");
    if (!(Number(points) > 0)) say("a plot has no point");
  }
  const canvases = page.locator("canvas");
  for (const canvas of await canvases.all()) {
    if (!(await eventually(() => canvas.evaluate(isDrawn)))) say("a canvas is empty");
  }
  if ((await page.locator(".metrics tbody tr").count()) < 10) say("fewer than ten metrics");
  const bare = await page.locator(".metrics td.number:not([data-tip])").count();
  if (bare > 0) say(`${bare} numbers have no tooltip`);
  if ((await page.locator(".metrics td.unit:empty").count()) > 0) say("a metric has no unit");

  // The keyboard: a term tells what it means, a heading sorts, a decision opens.
  await page.locator("button.term").first().focus();
  const tip = page.locator(".tip-box");
  if (!(await eventually(() => tip.isVisible()))) say("the focus shows no tooltip");
  await page.keyboard.press("Escape");
  if (!(await eventually(() => tip.isHidden()))) say("Escape does not close the tooltip");
  const heading = page.locator("button.sort").first();
  if ((await heading.count()) > 0) {
    await heading.focus();
    await page.keyboard.press("Enter");
    const sorted = page.locator("th[aria-sort=descending]", { hasText: /^Ask/ });
    if (!(await eventually(() => sorted.count()))) say("Enter does not sort");
    await page.locator(".decisions button.open").first().focus();
    await page.keyboard.press("Enter");
    const open = page.locator(".why");
    const isOpen = await eventually(async () => (await open.count()) === 1);
    if (!isOpen) say("Enter does not open a decision");
  }
  await walkOverHeat(page, say);
}

async function walkOverHeat(page, say) {
  const map = page.locator(".heat canvas");
  if ((await map.count()) === 0) return;
  await map.first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const description = page.locator(".heat .description").first();
  const isShown = await eventually(async () => /%|not there/.test(await description.textContent()));
  if (!isShown) say(`arrow keys show nothing: ${await description.textContent()}`);
}

async function lookAtPlan(page, say) {
  if ((await page.locator(".node-bar .part").count()) === 0) say("no bar has a part");
  const asks = page.locator(".asks button.ask");
  if ((await asks.count()) > 0) {
    await asks.first().focus();
    await page.keyboard.press("Enter");
    const detail = page.locator(".detail");
    const isChosen = await eventually(async () => (await detail.count()) === 1);
    if (!isChosen) say("Enter does not choose an ask");
  }
  const other = page.locator(".alternatives button").first();
  if ((await other.count()) > 0) {
    await other.focus();
    await page.keyboard.press("Enter");
    const mark = page.locator(".tag.mark", { hasText: /^alternative/ });
    if (!(await eventually(() => mark.count()))) say("an alternative is not shown among the nodes");
  }
  const name = page.locator("button.name").first();
  await name.focus();
  await page.keyboard.press("Enter");
  const isExpanded = await eventually(
    async () => (await name.getAttribute("aria-expanded")) === "true",
  );
  if (!isExpanded) say("Enter does not open a node");
  await walkOverHeat(page, say);
}

async function look(browser, file, screen, theme) {
  const name = `${file} (${screen.width} px, ${theme})`;
  const say = (text) => problems.push(`${name}: ${text}`);
  const { context, page } = await openPage(browser, screen, theme);
  const own = pathToFileURL(join(folder, file)).href;
  page.on("pageerror", (error) => say(`script error: ${error.message}`));
  page.on("console", (line) => {
    if (line.type() === "error" || line.type() === "warning") say(`console: ${line.text()}`);
  });
  page.on("request", (request) => {
    if (request.url() !== own) say(`a request to ${request.url()}`);
  });
  const begun = Date.now();
  await page.goto(own, { waitUntil: "load" });
  await page.locator("main section").first().waitFor(patience);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
  const took = Date.now() - begun;
  opened.push(took);
  if (!isAlone && took > openMsMax) say(`opened in ${took} ms`);
  const shown = await page.evaluate(() => document.documentElement.dataset.theme);
  if (shown !== theme) say(`the theme is ${shown}`);
  const wide = await tooWide(page);
  if (wide) say(wide);
  if (pictures) {
    const picture = `${file.replace(".html", "")}-${screen.width}-${theme}.png`;
    await page.screenshot({ path: join(pictures, picture), fullPage: true });
  }
  const isReport = (await page.locator(".metrics").count()) > 0;
  await (isReport ? lookAtReport(page, say) : lookAtPlan(page, say));
  if ((await page.evaluate(() => window.hostile)) !== undefined) say("data became a script");
  const after = await tooWide(page);
  if (after) say(`after use ${after}`);
  if ((await page.evaluate(() => document.getElementById("page").textContent)).includes("\u202e")) {
    say("U+202E is there as it is");
  }
  for (const fault of await faults(page)) say(`axe: ${fault}`);
  await context.close();
  console.log(`web: ${name}: opened in ${took} ms`);
}

const browser = await openBrowser();
try {
  const files = readdirSync(folder).filter((file) => file.endsWith(".html"));
  if (files.length === 0) problems.push(`there is no page in ${folder}`);
  // Two at a time: as many as a small machine has cores.
  for (const file of files.sort()) {
    for (const screen of screens) {
      if (isAlone) {
        for (const theme of ["light", "dark"]) await look(browser, file, screen, theme);
      } else {
        await Promise.all(["light", "dark"].map((theme) => look(browser, file, screen, theme)));
      }
    }
  }
} finally {
  await browser.close();
}
if (isAlone && Math.min(...opened) > openMsMax) {
  problems.push(`the fastest opened in ${Math.min(...opened)} ms; ${openMsMax} are allowed`);
}
conclude(problems);
