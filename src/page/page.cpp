#include "page/page.hpp"

#include <fmt/format.h>

#include <array>

#include "page/sha256.hpp"

// Where the assembler put the files of web/dist (cmake/embed.cmake).
// NOLINTBEGIN(modernize-avoid-c-arrays)
extern "C" {
extern const char makeway_web_report_js[];
extern const char makeway_web_report_js_end[];
extern const char makeway_web_report_css[];
extern const char makeway_web_report_css_end[];
extern const char makeway_web_plan_js[];
extern const char makeway_web_plan_js_end[];
extern const char makeway_web_plan_css[];
extern const char makeway_web_plan_css_end[];
extern const char makeway_web_dashboard_js[];
extern const char makeway_web_dashboard_js_end[];
extern const char makeway_web_dashboard_css[];
extern const char makeway_web_dashboard_css_end[];
}
// NOLINTEND(modernize-avoid-c-arrays)

namespace makeway {
namespace {

struct Bundle {
  std::string_view script;
  std::string_view style;
};

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

Bundle embedded(PageBundle which) {
  switch (which) {
    case PageBundle::report:
      return {.script = between(&makeway_web_report_js[0], &makeway_web_report_js_end[0]),
              .style = between(&makeway_web_report_css[0], &makeway_web_report_css_end[0])};
    case PageBundle::dashboard:
      return {.script = between(&makeway_web_dashboard_js[0], &makeway_web_dashboard_js_end[0]),
              .style = between(&makeway_web_dashboard_css[0], &makeway_web_dashboard_css_end[0])};
    case PageBundle::plan: break;
  }
  return {.script = between(&makeway_web_plan_js[0], &makeway_web_plan_js_end[0]),
          .style = between(&makeway_web_plan_css[0], &makeway_web_plan_css_end[0])};
}

std::string html_text(std::string_view text) {
  std::string result;
  for (const char each : text) {
    switch (each) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += each;
    }
  }
  return result;
}

/// The same JSON without any character that means something to HTML, and without the two line ends
/// that JSON allows and old readers of scripts do not. All of them can only stand in strings.
std::string json_for_html(std::string_view json) {
  std::string result;
  result.reserve(json.size() + json.size() / 16);
  for (std::size_t at = 0; at < json.size(); ++at) {
    const std::string_view rest = json.substr(at);
    if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {
      result += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      at += 2;
      continue;
    }
    switch (json[at]) {
      case '<': result += "\\u003c"; break;
      case '>': result += "\\u003e"; break;
      case '&': result += "\\u0026"; break;
      default: result += json[at];
    }
  }
  return result;
}

}  // namespace

std::string page_html(const Page& page) {
  const Bundle bundle = embedded(page.bundle);
  std::string html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; "
      "form-action 'none'{}\">\n",
      sha256_base64(bundle.script), sha256_base64(bundle.style),
      page.bundle == PageBundle::dashboard ? "; connect-src 'self'" : "");
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  html += "<meta name=\"referrer\" content=\"no-referrer\">\n";
  html += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
                      html_text(page.title), bundle.style);
  html +=
      "<div id=\"page\"><noscript>This page draws its data with a script; please allow it, or "
      "print text instead.</noscript></div>\n";
  html += "<script type=\"application/json\" id=\"data\">";
  html += json_for_html(page.json);
  html += "</script>\n<script>";
  html += bundle.script;
  html += "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace makeway
