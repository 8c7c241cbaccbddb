// A page for people: one HTML file with script, style and data in it (decisions/0032-pages.md).
//
//   const std::string html = page_html({.title = "Simulation", .bundle = PageBundle::report,
//                                       .json = text});
//
// Rules
//  1. Nothing is fetched: a policy in the page forbids every request, and every script and style
//     but the two of the bundle, which it names by their SHA-256. Only the dashboard may ask the
//     server that it came from.
//  2. Whatever the data says stays data: the JSON cannot end its element, whatever names it has.
//  3. Equal arguments give equal bytes.
// Cost: O(size of the page).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace makeway {

/// Which of web/src it is.
enum class PageBundle : std::uint8_t {
  report,
  plan,
  dashboard,  ///< The only one with requests, to its own server only.
};

struct Page {
  std::string_view title;
  PageBundle bundle = PageBundle::report;
  std::string_view json;  ///< Valid JSON; what the bundle reads.
};

std::string page_html(const Page& page);

}  // namespace makeway
