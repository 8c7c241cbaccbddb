import { signal } from "@preact/signals";

const kept = "makeway-token";

/** Set by the server's first 401: the page asks for a token, and only then. */
export const needsToken = signal(false);

/** As it is where it is badly encoded: whoever typed it sees what. */
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

export type Told<T> = { value: T } | { error: string };

/** The JSON of an answer, or what went wrong in words. */
export async function askJson<T>(path: string, more: RequestInit = {}): Promise<Told<T>> {
  try {
    const answer = await ask(path, more);
    const json = await answer.json();
    if (answer.ok) return { value: json as T };
    return { error: String(json.error ?? `the server answered ${answer.status}`) };
  } catch (error) {
    return { error: `the server did not answer: ${(error as Error).message}` };
  }
}
