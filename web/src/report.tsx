import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./shared/base.css";
import "./report/report.css";
import { ReportPage } from "./report/page";
import type { Report } from "./report/types";
import { readData } from "./shared/data";
import { startTips } from "./shared/tip";

const place = document.getElementById("page");
if (place) {
  place.textContent = "";
  render(<ReportPage report={readData<Report>()} />, place);
  startTips();
}
