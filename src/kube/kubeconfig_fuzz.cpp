// Whatever the bytes: reading a kubeconfig file never crashes, every problem says something, and a
// file that is merged with itself stays what it is.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "kube/kubeconfig.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto config = makeway::kube::parse_kubeconfig(text, "folder/fuzz");
  if (!config) {
    for (const makeway::Problem& problem : config.error()) CHECK(!to_text(problem).empty());
    return 0;
  }
  const std::array twice = {*config, *config};
  CHECK(makeway::kube::merge_kubeconfigs(twice) == *config, "a merge with itself has changed it");
  for (const auto& context : config->contexts) {
    const auto target = makeway::kube::choose_target(*config, context.name);
    if (!target) {
      CHECK(has_errors(target.error()));
      continue;
    }
    CHECK(target->cluster.server.starts_with("http"));
    CHECK(!target->user.token.contains('\n'), "a token must not begin another header");
  }
  return 0;
}
