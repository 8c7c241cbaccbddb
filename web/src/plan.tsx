import { render } from "preact";
import "./shared/base.css";
import "./plan/plan.css";
import { PlanPage } from "./plan/page";
import type { Plan } from "./plan/types";
import { readData } from "./shared/data";
import { startTips } from "./shared/tip";

const place = document.getElementById("page");
if (place) {
  place.textContent = "";
  render(<PlanPage plan={readData<Plan>()} />, place);
  startTips();
}
