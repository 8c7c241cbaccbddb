#include "codec/kinds.hpp"

#include <fmt/format.h>

#include "model/names.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

/// An object that says nothing about its plane belongs to the plane of its source.
template <class Object>
void enter_plane(ObjectCursor& cursor, std::string_view plane, Object& object) {
  if (plane.empty() || object.plane == plane) return;
  if (!object.plane.empty()) {
    cursor.reader.refuse(cursor.path.at("metadata").at("annotations").at(names::key_plane),
                         object.plane, fmt::format("the input is plane {}", plane),
                         "an object belongs to one plane; leave the annotation out");
  }
  object.plane = plane;
}

template <class Object>
PodState decode_kind(ObjectCursor cursor, PodDraft& draft, std::string_view plane, Change& change) {
  if constexpr (std::is_same_v<Object, Pod>) {
    Pod& pod = std::get<Pod>(change);  // Used again for the next one, with its buffers.
    const PodState state = decode_object(cursor, draft, pod);
    enter_plane(cursor, plane, pod);
    normalize(pod);
    return state;
  } else {
    Object& object = change.emplace<Object>();
    decode_object(cursor, object);
    enter_plane(cursor, plane, object);
    normalize(object);
    return PodState::present;
  }
}

template <class Object>
void write_kind(DocumentWriter& writer, const Cluster& cluster) {
  cluster.each<Object>([&writer](const Object& object) { write_object(writer, object); });
}

template <class Object>
OwnKind own_kind_of() {
  return own_kind(KindTag<Object>{});
}

template <class Object>
consteval TextKind text_kind() {
  constexpr KindRow row = row_of<Object>;
  constexpr std::size_t slash = row.api_version.find('/');
  TextKind kind{.row = row,
                .api_group = slash == std::string_view::npos ? std::string_view{}
                                                             : row.api_version.substr(0, slash),
                .decode = decode_kind<Object>,
                .write_all = write_kind<Object>,
                .own = nullptr};
  if constexpr (OwnObject<Object>) kind.own = own_kind_of<Object>;
  return kind;
}

template <class... Objects>
consteval std::array<TextKind, sizeof...(Objects)> text_kinds_of(KindList<Objects...> /*all*/) {
  return {text_kind<Objects>()...};
}

}  // namespace

constinit const std::array<TextKind, kind_rows.size()> text_kinds = text_kinds_of(ObjectKinds{});

}  // namespace makeway
