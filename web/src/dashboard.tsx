import { render } from "preact";
import "./shared/base.css";
import "uplot/dist/uPlot.min.css";
import "./plan/plan.css";
import "./dashboard/dashboard.css";
import { follow } from "./dashboard/live";
import { DashboardPage } from "./dashboard/page";
import type { Facts } from "./dashboard/types";
import { readData } from "./shared/data";
import { startTips } from "./shared/tip";

const place = document.getElementById("page");
if (place) {
  place.textContent = "";
  render(<DashboardPage facts={readData<Facts>()} />, place);
  startTips();
  follow();
}
