// The result of `makeway risk`, as a document for machines.
#pragma once

#include <string>

#include "cli/risk/own_kind_risk.hpp"
#include "cli/risk/risk_text.hpp"

namespace makeway::cli {

std::string risk_json(const RiskReport& report);
std::string risk_json(const OwnKindRisk& risk);

}  // namespace makeway::cli
