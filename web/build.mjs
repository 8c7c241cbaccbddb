// Builds dist/: one script and one style for each page, which the C++ build embeds.
//
//   node build.mjs            writes dist/
//   node build.mjs --check    builds elsewhere and says whether dist/ is what the sources give
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const pages = ["report", "plan", "dashboard"];
const here = fileURLToPath(new URL(".", import.meta.url));

async function buildInto(folder) {
  await build({
    absWorkingDir: here,
    entryPoints: pages.map((page) => ({ in: `src/${page}.tsx`, out: page })),
    outdir: folder,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "ascii", // The bytes are the same whatever a server says about encodings.
    legalComments: "eof", // Licence comments stay in the file.
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
  });
}

function differing(folder) {
  const files = pages.flatMap((page) => [`${page}.js`, `${page}.css`]);
  const read = (name) => readFileSync(name, "utf8");
  return files.filter((file) => read(join(folder, file)) !== read(join(here, "dist", file)));
}

if (process.argv.includes("--check")) {
  const folder = mkdtempSync(join(tmpdir(), "makeway-web-"));
  try {
    await buildInto(folder);
    const wrong = differing(folder);
    if (wrong.length > 0) {
      console.error(`web: dist is not what the sources give: ${wrong.join(", ")}; run make web`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
} else {
  await buildInto(join(here, "dist"));
}
