import { parsed } from "./harmless";

/** What the page is about: the JSON that Makeway wrote into it. */
export function readData<T>(): T {
  const element = document.getElementById("data");
  return parsed<T>(element?.textContent ?? "null");
}
