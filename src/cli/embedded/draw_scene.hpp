// A scene as the lines of a screen.
//
//  1. Never more lines than the screen has rows, never a line wider than its columns.
//  2. Letters are priorities, A the highest; colours only repeat that, so they are not needed.
//  3. A node is a bar: what each priority holds, most important first, then what is about to be
//     free (x) and what is free (.). All nodes together are the first bar; of many nodes a part is
//     shown, and keys move it.
//  4. Everything is ASCII. What others wrote is escaped: a name can neither move the cursor nor
//     reorder a line nor take two columns where one was counted.
//
// Costs what is shown, plus one pass over the nodes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/embedded/scene.hpp"
#include "cli/full_screen.hpp"
#include "cli/palette.hpp"

namespace makeway::cli {

std::vector<std::string> draw_scene(const Scene& scene, ScreenSize size, const Palette& palette);

/// How many nodes a page shows.
std::size_t nodes_shown(const Scene& scene, ScreenSize size);

/// Printable, and everything that is not ASCII escaped, too: \u4e2d.
std::string ascii_text(std::string_view text);

/// "default/task-1 leaves node-3 for Pod default/urgent": without time and cause.
std::string preemption_text(const ScenePreemption& preemption);

/// What all nodes together have of the resource, and what of it is in use, leaving included.
struct SceneUse {
  std::int64_t used = 0;
  std::int64_t room = 0;
};
SceneUse use_of(const Scene& scene);

/// "12:03:20" of the cluster's clock.
std::string clock_text(Time time);

}  // namespace makeway::cli
