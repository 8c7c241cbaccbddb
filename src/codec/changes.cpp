#include "codec/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "codec/decode.hpp"
#include "codec/dump_parts.hpp"
#include "codec/json_value.hpp"
#include "codec/kinds.hpp"
#include "codec/source.hpp"

namespace makeway {
namespace {

constexpr std::string_view removal_kind = "Removal";

void write_removal(DocumentWriter& writer, const Removal& removal) {
  begin_kind(writer, own_api_version, removal_kind);
  writer.string_field("of", row_of_kind(removal.kind).name);
  text_if(writer, "namespace", removal.namespace_name);
  writer.string_field("name", removal.name);
  text_if(writer, "plane", removal.plane);
  writer.end_object();
}

/// A member that is a text; none: it is something else, or not there.
std::optional<std::string> member_text(const JsonValue& tree, std::string_view key) {
  const JsonValue* const value = tree.find(key);
  if (value == nullptr || value->as_string() == nullptr) return std::nullopt;
  return *value->as_string();
}

std::optional<Removal> read_removal(std::string_view json) {
  const auto tree = parse_json_value(json);
  if (!tree) return std::nullopt;
  const std::optional<std::string> of = member_text(*tree, "of");
  const std::optional<std::string> name = member_text(*tree, "name");
  if (!of || !name) return std::nullopt;
  const auto row = std::ranges::find(kind_rows, std::string_view(*of), &KindRow::name);
  if (row == kind_rows.end()) return std::nullopt;
  return Removal{.kind = row->kind,
                 .namespace_name = member_text(*tree, "namespace").value_or(""),
                 .name = *name,
                 .plane = member_text(*tree, "plane").value_or("")};
}

/// Hands every change on and remembers the first thing that is none.
class ChangeSink final : public ObjectSink {
 public:
  explicit ChangeSink(const std::function<void(const Change&)>& visit) : visit_(visit) {}

  void object(const Change& object, const Origin& /*origin*/) override { visit_(object); }
  void own_document(std::string_view kind, std::string_view json,
                    const Origin& /*origin*/) override {
    const std::optional<Removal> removal = kind == removal_kind ? read_removal(json) : std::nullopt;
    if (removal) return visit_(*removal);
    refuse(kind);
  }
  void workload(const ObjectType& type, std::string_view /*json*/,
                const Origin& /*origin*/) override {
    refuse(type.kind);
  }

  const std::string& refused() const { return refused_; }

 private:
  void refuse(std::string_view kind) {
    if (refused_.empty()) refused_ = fmt::format("a {} is no change", shorten(kind));
  }

  const std::function<void(const Change&)>& visit_;
  std::string refused_;
};

}  // namespace

void write_change(DocumentWriter& writer, const Change& change) {
  std::visit(
      [&](const auto& each) {
        if constexpr (std::is_same_v<std::decay_t<decltype(each)>, Removal>) {
          write_removal(writer, each);
        } else {
          write_object(writer, each);
        }
      },
      change);
}

std::optional<Error> read_changes(std::string_view text,
                                  const std::function<void(const Change&)>& visit) {
  if (text.find_first_not_of(" \n") == std::string_view::npos) return std::nullopt;
  const PaddedText padded(text);
  ObjectDecoder decoder;
  DecodeReport report;
  ChangeSink sink(visit);
  decoder.decode(padded.view(), {}, sink, report);
  if (has_errors(report.problems)) {
    for (const Problem& problem : report.problems) {
      if (problem.severity == Severity::error) return Error{.message = to_text(problem)};
    }
  }
  if (!sink.refused().empty()) return Error{.message = sink.refused()};
  if (!report.skipped.empty()) {
    return Error{.message = fmt::format("a {} is no change", report.skipped.begin()->first)};
  }
  if (report.finished_pods > 0) return Error{.message = "a pod that has finished is no change"};
  return std::nullopt;
}

}  // namespace makeway
