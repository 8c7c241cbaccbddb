import { signal } from "@preact/signals";
import { harmless, parsed } from "../shared/harmless";

const kept = "makeway-token";

/** Set by the server's first 401: the page asks for a token, and only then. */
export const needsToken = signal(false);

/** A badly encoded text is returned unchanged, so that its author sees it. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function takeFromAddress(): void {
  // Behind the # nothing is ever sent to a server, nor into its logs.
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(kept, decoded(found[1] ?? ""));
  history.replaceState(null, "", location.pathname);
}
takeFromAddress();

export function giveToken(token: string): void {
  sessionStorage.setItem(kept, token.trim());
  needsToken.value = false;
}

export async function ask(path: string, more: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(kept);
  const headers = new Headers(more.headers);
  if (token) headers.set("Authorization", `Bearer ${token}`);
  const answer = await fetch(path, { ...more, headers });
  if (answer.status === 401) needsToken.value = true;
  return answer;
}

export type Answered<T> = { value: T } | { error: string };

/** In words: ours, or of a proxy that knows nothing of JSON. */
export async function whatWentWrong(answer: Response): Promise<string> {
  const text = await answer.text().catch(() => "");
  try {
    const { error } = parsed<{ error?: unknown }>(text);
    if (error) return String(error);
  } catch {
    // No JSON.
  }
  return `the server answered ${answer.status} ${harmless(answer.statusText)}`;
}

/** The JSON of an answer, or what went wrong. */
export async function askJson<T>(path: string, more: RequestInit = {}): Promise<Answered<T>> {
  try {
    const answer = await ask(path, more);
    if (!answer.ok) return { error: await whatWentWrong(answer) };
    return { value: parsed<T>(await answer.text()) };
  } catch (error) {
    return { error: `the server did not answer: ${(error as Error).message}` };
  }
}
