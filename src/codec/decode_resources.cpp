#include <fmt/format.h>

#include <algorithm>

#include "codec/decoders.hpp"
#include "model/normalize.hpp"
#include "model/resource.hpp"

namespace makeway {
namespace {

// Far above what Kubernetes lets through; they keep hostile input linear.
constexpr std::size_t containers_max = 1'000;
constexpr std::size_t resources_max = 256;
constexpr std::size_t resource_name_length_max = 320;

/// What a too large amount counts as.
Quantity largest_of(Scale scale) {
  constexpr std::int64_t nano_per_one = 1'000'000'000;
  constexpr std::int64_t nano_per_milli = 1'000'000;
  return Quantity::from_nano(Quantity::Int128{quantity_amount_max} *
                             (scale == Scale::milli ? nano_per_milli : nano_per_one));
}

/// Refuses what is no amount; one that is too large is refused and clamped.
bool read_quantity(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                   std::string_view resource, Quantity& quantity) {
  std::string_view text;
  if (!reader.read_token(value, path, text)) return false;
  const Scale scale = counted_in_thousandths(resource) ? Scale::milli : Scale::one;
  const auto parsed = parse_quantity_exact(text);
  if (!parsed) {
    reader.refuse(path, text, refusal_text(parsed.error(), Scale::one));
    quantity = largest_of(scale);
    return parsed.error() == QuantityRefusal::too_large && !text.starts_with('-');
  }
  if (parsed->is_negative()) {
    reader.refuse(path, text, "expected an amount that is not negative");
    return false;
  }
  if (!is_representable(*parsed, scale)) {
    reader.refuse(path, text, "too large; the largest amount accepted is 2^60 of its unit");
    quantity = largest_of(scale);
    return true;
  }
  quantity = *parsed;
  return true;
}

void decode_ports(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                  std::vector<ContainerPort>& ports) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    ContainerPort port;
    reader.each_field(item, at, [&](std::string_view key, JsonCursor& field, const FieldPath& to) {
      std::string_view text;
      if (key == "hostPort") {
        reader.read(field, to, port.host.port);
      } else if (key == "containerPort") {
        reader.read(field, to, port.container_port);
      } else if (key == "hostIP") {
        // 0.0.0.0 is how Kubernetes spells "every address".
        if (reader.read(field, to, text) && text != "0.0.0.0") port.host.ip = text;
      } else if (key == "protocol" && reader.read(field, to, text)) {
        if (text == "UDP") {
          port.host.protocol = Protocol::udp;
        } else if (text == "SCTP") {
          port.host.protocol = Protocol::sctp;
        } else if (text != "TCP" && !text.empty()) {
          reader.refuse(to, text, "expected TCP, UDP or SCTP");
        }
      }
    });
    for (const auto& [name, number] :
         {std::pair{"hostPort", port.host.port}, std::pair{"containerPort", port.container_port}}) {
      if (number >= 0 && number <= 65'535) continue;
      reader.refuse(at.at(name), std::to_string(number), "expected a port from 1 to 65535");
      return;
    }
    ports.push_back(std::move(port));
  });
}

}  // namespace

void decode_resource_list(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                          ResourceList& list) {
  constexpr std::size_t usual_size = 4;
  list.reserve(usual_size);
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& item, const FieldPath& at) {
    ResourceQuantity entry{.resource = key};
    if (key.empty() || key.size() > resource_name_length_max) {
      reader.refuse(at, key, "expected the name of a resource");
    } else if (read_quantity(reader, item, at, key, entry.quantity)) {
      list.push_back(entry);
    }
  });
  if (list.size() >= resources_max) {
    reader.refuse(path, {}, fmt::format("expected fewer than {} resources", resources_max));
  }
}

void decode_resources(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                      ResourceList& requests, ResourceList& limits) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "requests") decode_resource_list(reader, field, at, requests);
    if (key == "limits") decode_resource_list(reader, field, at, limits);
  });
}

void decode_quotas(JsonReader& reader, JsonCursor& value, const FieldPath& path, Quotas& quotas) {
  ResourceList list;
  decode_resource_list(reader, value, path, list);
  for (const ResourceQuantity& item : list) {
    const Scale scale = counted_in_thousandths(item.resource) ? Scale::milli : Scale::one;
    quotas.push_back({.resource = std::string(item.resource),
                      .amount = rounded_up(item.quantity, scale).value_or(0)});
  }
  std::ranges::sort(quotas);
}

void decode_amounts(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                    Amounts& amounts) {
  decode_quotas(reader, value, path, amounts);
  normalize(amounts);
}

void decode_containers(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                       ContainersOf of, std::vector<ContainerResources>& containers,
                       std::vector<ContainerPort>& ports) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    if (containers.size() == containers_max) {
      reader.refuse(at, {}, fmt::format("expected at most {} containers", containers_max));
    }
    ContainerResources& container = containers.emplace_back();
    const std::size_t ports_before = ports.size();
    reader.each_field(item, at, [&](std::string_view key, JsonCursor& field, const FieldPath& to) {
      std::string_view text;
      if (key == "name") {
        reader.read(field, to, container.name);
      } else if (key == "resources") {
        decode_resources(reader, field, to, container.requests, container.limits);
      } else if (key == "ports") {
        decode_ports(reader, field, to, ports);
      } else if (key == "restartPolicy") {
        container.restartable = reader.read(field, to, text) && text == "Always";
      }
    });
    if (of == ContainersOf::init && !container.restartable) ports.resize(ports_before);
  });
}

void decode_container_statuses(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                               std::vector<ContainerResources>& statuses) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    ContainerResources& status = statuses.emplace_back();
    ResourceList limits;
    reader.each_field(item, at, [&](std::string_view key, JsonCursor& field, const FieldPath& to) {
      if (key == "name") {
        reader.read(field, to, status.name);
      } else if (key == "allocatedResources") {
        decode_resource_list(reader, field, to, status.allocated);
      } else if (key == "resources") {
        // Kubernetes looks at the status only when it says what the container runs with.
        status.has_status = !reader.is_null(field, to);
        if (status.has_status) decode_resources(reader, field, to, status.actual, limits);
      }
    });
  });
}

}  // namespace makeway
