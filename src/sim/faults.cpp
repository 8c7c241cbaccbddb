#include "sim/faults.hpp"

#include <array>

#include "sim/number_list.hpp"

namespace makeway {
namespace {

using FaultField = NumberField<FaultOptions>;
constexpr std::array fault_fields = {
    FaultField{"node-loss", &FaultOptions::node_loss, 0, 1'000},
    FaultField{"conflict", &FaultOptions::conflict, 0, 1'000},
    FaultField{"late", &FaultOptions::late, 0, 1'000},
    FaultField{"stuck", &FaultOptions::stuck, 0, 1'000},
    FaultField{"writer", &FaultOptions::writer, 0, 1'000},
    FaultField{"kill", &FaultOptions::kill, 0, 1'000},
};

}  // namespace

Result<FaultOptions> parse_faults(std::string_view text) {
  return parse_number_list("faults", text, fault_fields);
}

Faults::Faults(const FaultOptions& options, std::uint64_t seed, Time last)
    : options_(options), random_(mix64(seed) ^ 0x6661756C7473U), last_(last) {}

void Faults::forget_touched(Time now) {
  if (options_.late == 0) return touched_.clear();
  std::erase_if(touched_, [&](const auto& entry) { return entry.second + late_max < now; });
}

}  // namespace makeway
