import { useEffect, useState } from "preact/hooks";
import { Section } from "../shared/frame";
import { askJson } from "./ask_server";
import { subject, tellWhy } from "./places";

export function Why() {
  const object = subject.value;
  const [written, setWritten] = useState(object);
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const [again, setAgain] = useState(0);
  useEffect(() => {
    setWritten(object);
    setText("");
    setError("");
    if (!object) return;
    const left = new AbortController(); // So that the server reads no journal for nobody.
    askJson<{ text: string }>(`/api/why?object=${encodeURIComponent(object)}`, {
      signal: left.signal,
    }).then((told) => {
      if (left.signal.aborted) return;
      if ("error" in told) setError(told.error);
      else setText(told.value.text);
    });
    return () => left.abort();
  }, [object, again]);
  return (
    <Section
      id="why"
      title="Why"
      lead={
        <>
          Why somebody waits, or had to leave: what <code>makeway why</code> tells.
        </>
      }
    >
      <form
        class="ask-form"
        onSubmit={(event) => {
          event.preventDefault();
          setAgain(again + 1);
          tellWhy(written.trim());
        }}
      >
        <label>
          Pod, PodGroup, Session or workload{" "}
          <input
            value={written}
            placeholder="Pod/default/web-1"
            spellcheck={false}
            onInput={(event) => setWritten(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="go">
          Tell
        </button>
      </form>
      {error ? <p class="warning told-error">{error}</p> : null}
      {text ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without a focus, no key scrolls it
        <pre class="story" tabIndex={0}>
          {text}
        </pre>
      ) : null}
      {!text && !error ? (
        <p class="empty">{object ? "Reading…" : "Name somebody, or choose a name elsewhere."}</p>
      ) : null}
    </Section>
  );
}
