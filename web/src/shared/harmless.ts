// Names and messages are untrusted. Characters that are invisible, or that reorder a line, are
// shown as their codes, so that no name can pass for another one.
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const allUnseen = new RegExp(unseen, "gu");
const escapes = /\\u(?!003[ce]|0026)/i; // Those three are how a page hides its own markup.

export function harmless(text: string): string {
  if (!unseen.test(text)) return text;
  return text.replace(
    allUnseen,
    (each) => `\\u${(each.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** The value of a JSON text, with harmless strings. Walking over it costs, so most are not. */
export function parsed<T>(json: string): T {
  if (!unseen.test(json) && !escapes.test(json)) return JSON.parse(json) as T;
  return JSON.parse(json, (_key, value) =>
    typeof value === "string" ? harmless(value) : value,
  ) as T;
}
