import { useEffect, useState } from "preact/hooks";
import { Section } from "../shared/frame";
import { askJson } from "./ask_server";
import { showWhy, subject } from "./places";

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
    const left = new AbortController(); // So that the server stops reading for a closed view.
    askJson<{ text: string }>(`/api/why?object=${encodeURIComponent(object)}`, {
      signal: left.signal,
    }).then((answer) => {
      if (left.signal.aborted) return;
      if ("error" in answer) setError(answer.error);
      else setText(answer.value.text);
    });
    return () => left.abort();
  }, [object, again]);
  return (
    <Section
      id="why"
      title="Why"
      lead={
        <>
          Why an object waits, or was evicted: the text of <code>makeway why</code>.
        </>
      }
    >
      <form
        class="ask-form"
        onSubmit={(event) => {
          event.preventDefault();
          setAgain(again + 1);
          showWhy(written.trim());
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
          Show
        </button>
      </form>
      {error ? <p class="warning error-text">{error}</p> : null}
      {text ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without a focus, no key scrolls it
        <pre class="story" tabIndex={0}>
          {text}
        </pre>
      ) : null}
      {!text && !error ? (
        <p class="empty">{object ? "Reading…" : "Enter a name, or choose one elsewhere."}</p>
      ) : null}
    </Section>
  );
}
