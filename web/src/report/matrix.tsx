import { count, counted } from "../shared/format";
import { Scroll } from "../shared/scroll";
import type { Run } from "./types";

export function Matrix(props: { matrix: Run["matrix"] }) {
  const { askers, victims, counts } = props.matrix;
  const most = Math.max(1, ...counts.flat());
  if (askers.length === 0) return <p class="empty">Nothing was preempted.</p>;
  return (
    <Scroll label="Preemptions by priority">
      <table class="matrix">
        <thead>
          <tr>
            <td />
            <th scope="colgroup" colSpan={victims.length}>
              victims, by priority
            </th>
          </tr>
          <tr>
            <th scope="col">made room for</th>
            {victims.map((victim) => (
              <th scope="col" key={victim} class="number">
                {victim}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {askers.map((asker, row) => (
            <tr key={asker}>
              <th scope="row">{asker}</th>
              {victims.map((victim, column) => {
                const times = counts[row]?.[column] ?? 0;
                const level = times === 0 ? 0 : 1 + Math.floor((4 * times) / (most + 1));
                return (
                  <td
                    key={victim}
                    class={`number level-${level}`}
                    data-tip={`${counted(times, "preemption")}: priority ${victim} left for ${asker === "a queue" ? "a queue that takes back what it deserves" : `priority ${asker}`}`}
                  >
                    {times === 0 ? "·" : count(times)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
