// The dashboard of a running makeway behind a proxy that puts markup into every name and text:
//
//   node tests/hostile.mjs ADDRESS [--pictures FOLDER]
//
// No loader lets such names in. Should one ever come through, it must be drawn as text: no element,
// no script, no request comes of it, and invisible characters are shown as their codes. In
// the end markup is put into the page by force, to see that the page's policy stops it.
import { request as ask, createServer } from "node:http";
import { join, resolve } from "node:path";
import { conclude, openBrowser, openPage, option, patience, screens, tooWide } from "./browser.mjs";

const target = new URL(process.argv[2] ?? "");
const pictures = option("--pictures") ? resolve(option("--pictures")) : "";
const markup =
  "</script><img src=x onerror=window.hostile=1><svg onload=window.hostile=1>&lt;i&gt;";
const turned = "\u202e"; // Letters behind it are read from right to left.
const manifest = `apiVersion: v1
kind: Pod
metadata:
  name: what-if-pod
  namespace: shop
  labels: {"app.kubernetes.io/name": "x"}
  annotations: {note: "${markup}"}
spec:
  priority: 1000000
  containers: [{name: c, resources: {requests: {cpu: "1"}}}]
`;
const problems = [];

// ---- The proxy ----------------------------------------------------------------------------------

/** The same value with markup before every text in it. */
function hostile(value) {
  if (typeof value === "string") return value === "" ? "" : `${markup}${turned}${value}`;
  if (Array.isArray(value)) return value.map(hostile);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hostile(each)]));
}

/** The events of a stream, each as soon as it is whole. */
function passEvents(from, to) {
  let text = "";
  from.setEncoding("utf8");
  from.on("data", (part) => {
    text += part;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const event = text.slice(0, end).replace(/^data: (.*)$/m, (_all, json) => {
        return `data: ${JSON.stringify(hostile(JSON.parse(json)))}`;
      });
      text = text.slice(end + 2);
      to.write(`${event}\n\n`);
    }
  });
  from.on("end", () => to.end());
}

function pass(from, to) {
  const kind = from.headers["content-type"] ?? "";
  const { "content-length": _length, "transfer-encoding": _coding, ...headers } = from.headers;
  to.writeHead(from.statusCode ?? 500, headers);
  if (kind.startsWith("text/event-stream")) return passEvents(from, to);
  const parts = [];
  from.on("data", (part) => parts.push(part));
  from.on("end", () => {
    const body = Buffer.concat(parts);
    const isJson = kind.startsWith("application/json");
    to.end(isJson ? JSON.stringify(hostile(JSON.parse(body.toString("utf8")))) : body);
  });
}

const proxy = createServer((from, to) => {
  const headers = { ...from.headers, host: target.host };
  if (headers.origin) headers.origin = target.origin;
  const onward = ask(
    { hostname: target.hostname, port: target.port, method: from.method, path: from.url, headers },
    (answer) => pass(answer, to),
  );
  onward.on("error", () => to.destroy());
  to.on("error", () => onward.destroy()); // The page has gone while something was written.
  to.on("close", () => onward.destroy());
  from.pipe(onward);
});

// ---- The page -----------------------------------------------------------------------------------

/** Everything that was drawn, as a person and as a screen reader have it. */
async function check(page, say, what, name) {
  const found = await page.evaluate(() => ({
    text: document.getElementById("page")?.textContent ?? "",
    labels: [...document.querySelectorAll("[aria-label], [data-tip], [title]")]
      .flatMap((each) => ["aria-label", "data-tip", "title"].map((key) => each.getAttribute(key)))
      .join("\n"),
    strange: [...document.querySelectorAll("img, svg, iframe, object, embed")].length,
    scripts: document.scripts.length,
    ran: window.hostile,
  }));
  if (found.ran !== undefined) say(`${what}: data became a script`);
  if (found.strange > 0) say(`${what}: data became ${found.strange} elements`);
  if (found.scripts !== 2) say(`${what}: there are ${found.scripts} scripts; 2 are its own`);
  if (!found.text.includes(markup)) say(`${what}: the markup is not drawn as text`);
  if ((found.text + found.labels).includes(turned)) say(`${what}: U+202E is there as it is`);
  if (!found.text.includes("\\u202e")) say(`${what}: U+202E is not shown as its code`);
  const wide = await tooWide(page);
  if (wide) say(`${what}: ${wide}`);
  if (pictures) {
    await page.screenshot({ path: join(pictures, `hostile-${what}-${name}.png`), fullPage: true });
  }
}

async function show(page, view) {
  await page.getByRole("radio", { name: view, exact: true }).focus();
  await page.keyboard.press("Space");
}

/** Markup that gets into the page nevertheless is not run, by the policy. */
async function breakIn(page, say) {
  const broken = await page.evaluate(async (text) => {
    const seen = [];
    document.addEventListener("securitypolicyviolation", (event) =>
      seen.push(event.effectiveDirective),
    );
    document.body.insertAdjacentHTML("beforeend", text);
    const script = document.createElement("script");
    script.textContent = "window.hostile = 1";
    document.body.append(script);
    const asked = await fetch("http://127.0.0.1:9/").then(
      () => "answered",
      () => "refused",
    );
    for (let turn = 0; turn < 600 && seen.length < 3; turn += 1) {
      await new Promise((done) => setTimeout(done, 50));
    }
    return { seen, asked, ran: window.hostile };
  }, "<img src=x onerror='window.hostile=1'>");
  if (broken.ran !== undefined) say("the policy let a script run");
  if (broken.asked !== "refused") say("the policy let a request go elsewhere");
  for (const wanted of ["img-src", "script-src", "connect-src"]) {
    if (!broken.seen.some((each) => each.startsWith(wanted))) {
      say(`the policy did not stop ${wanted}; it stopped ${broken.seen.join(", ")}`);
    }
  }
}

async function look(browser, address, screen, theme) {
  const name = `${screen.width}-${theme}`;
  const say = (text) => problems.push(`hostile names (${name}): ${text}`);
  const { context, page } = await openPage(browser, screen, theme);
  let isBreakingIn = false;
  page.on("pageerror", (error) => say(`script error: ${error.message}`));
  page.on("dialog", (dialog) => say(`a dialog: ${dialog.message()}`));
  page.on("console", (line) => {
    // No such object, a wrong manifest: the browser tells of every 400 and 404.
    const isAnswer = /\/api\/(why|what-if)/.test(line.location().url);
    if (line.type() === "error" && !isBreakingIn && !isAnswer) say(`console: ${line.text()}`);
  });
  page.on("request", (each) => {
    if (!each.url().startsWith(address) && !isBreakingIn) say(`a request to ${each.url()}`);
  });
  await page.goto(address, { waitUntil: "load" });
  await page.locator(".bar .part").first().waitFor(patience);
  for (const section of ["#waiting", "#queues", "#sessions", "#planes"]) {
    await page.locator(`${section} tbody tr`).first().waitFor(patience);
  }
  await page.locator(".feed > li").first().waitFor(patience);
  await check(page, say, "now", name);
  await page.goto(`${address}#why=${encodeURIComponent(`Pod/shop/${markup}${turned}`)}`);
  await page.locator("#why .story, #why .error-text").first().waitFor(patience);
  await check(page, say, "why", name);
  await show(page, "What if");
  await page.locator("#what-if textarea").fill(manifest);
  await page.getByRole("button", { name: "Decide", exact: true }).click();
  await page.locator("#asks").waitFor(patience);
  await check(page, say, "what-if", name);
  await page.locator("#what-if textarea").fill(`kind: "${markup}`);
  await page.getByRole("button", { name: "Decide", exact: true }).click();
  await page.locator("#what-if .error-text").waitFor(patience);
  await check(page, say, "wrong-manifest", name);
  await show(page, "Look back");
  await page.locator("#asks").waitFor(patience);
  await check(page, say, "look-back", name);
  // Rules that schedule neither sessions nor replicas decide about all others.
  await page.locator("#look-back select").selectOption("kube-1.37");
  await page.locator("#look-back p.note", { hasText: "kube-1.37" }).waitFor(patience);
  await page.locator("#asks").waitFor(patience);
  isBreakingIn = true;
  await breakIn(page, say);
  await context.close();
  console.log(`web: hostile names (${screen.width} px, ${theme})`);
}

await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${proxy.address().port}/`;
const browser = await openBrowser();
try {
  await Promise.all([
    look(browser, address, screens[0], "light"),
    look(browser, address, screens[1], "dark"),
  ]);
} catch (error) {
  problems.push(`hostile names: ${error.message}`);
} finally {
  await browser.close();
  proxy.closeAllConnections();
  proxy.close();
}
conclude(problems);
