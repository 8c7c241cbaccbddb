#include "model/reason.hpp"

#include <utility>

namespace makeway {

Argument::Argument(Number number) : value_(number.value) {}
Argument::Argument(const char* name) : value_(std::string(name)) {}
Argument::Argument(std::string_view name) : value_(std::string(name)) {}
Argument::Argument(std::string name) : value_(std::move(name)) {}
Argument::Argument(Time time) : value_(time) {}
Argument::Argument(Duration duration) : value_(duration) {}
Argument::Argument(Quantity quantity) : value_(std::move(quantity)) {}
Argument::Argument(PodIndex pod) : value_(pod) {}
Argument::Argument(UnitIndex unit) : value_(unit) {}
Argument::Argument(NodeIndex node) : value_(node) {}
Argument::Argument(ObjectName object) : value_(std::move(object)) {}
Argument::Argument(Sentence sentence) : value_(std::move(sentence)) {}
Argument::Argument(Reasons reasons) : value_(std::move(reasons)) {}
Argument::Argument(Reason reason) : value_(Reasons{std::move(reason)}) {}
Argument::Argument(const Argument& other) = default;
Argument::Argument(Argument&& other) noexcept = default;
Argument& Argument::operator=(const Argument& other) = default;
Argument& Argument::operator=(Argument&& other) noexcept = default;
Argument::~Argument() = default;

Reasons named(const std::vector<std::string>& names) {
  Reasons list;
  list.reserve(names.size());
  for (const std::string& name : names) {
    list.push_back({.code = ReasonCode::named, .arguments = {name}});
  }
  return list;
}

}  // namespace makeway
