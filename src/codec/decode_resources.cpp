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
ExactQuantity largest_of(Scale scale) {
  constexpr std::int64_t nano_per_one = 1'000'000'000;
  constexpr std::int64_t nano_per_milli = 1'000'000;
  return ExactQuantity::from_nano(ExactQuantity::Int128{quantity_amount_max} *
                                  (scale == Scale::milli ? nano_per_milli : nano_per_one));
}

/// Refuses what is no amount; one that is too large is refused and clamped.
bool read_quantity(const JsonField& value, std::string_view resource, ExactQuantity& quantity) {
  std::string_view text;
  if (!value.read_token(text)) return false;
  const Scale scale = counted_in_thousandths(resource) ? Scale::milli : Scale::one;
  const auto parsed = parse_quantity_exact(text);
  if (!parsed) {
    value.refuse(text, refusal_text(parsed.error(), Scale::one));
    quantity = largest_of(scale);
    return parsed.error() == QuantityRefusal::too_large && !text.starts_with('-');
  }
  if (parsed->is_negative()) {
    value.refuse(text, "expected an amount that is not negative");
    return false;
  }
  if (!is_representable(*parsed, scale)) {
    value.refuse(text, "too large; the largest amount accepted is 2^60 of its unit");
    quantity = largest_of(scale);
    return true;
  }
  quantity = *parsed;
  return true;
}

void decode_ports(const JsonField& value, std::vector<ContainerPort>& ports) {
  value.each_item([&](const JsonField& item) {
    ContainerPort port;
    item.each_field([&](const JsonField& field) {
      std::string_view text;
      if (field.key == "hostPort") field.read(port.host.port);
      if (field.key == "containerPort") field.read(port.container_port);
      if (field.key == "hostIP") {
        // 0.0.0.0 is how Kubernetes spells "every address".
        if (field.read(text) && text != "0.0.0.0") port.host.ip = text;
      }
      if (field.key == "protocol" && field.read(text)) {
        if (text == "UDP") {
          port.host.protocol = Protocol::udp;
        } else if (text == "SCTP") {
          port.host.protocol = Protocol::sctp;
        } else if (text != "TCP" && !text.empty()) {
          field.refuse(text, "expected TCP, UDP or SCTP");
        }
      }
    });
    for (const auto& [name, number] :
         {std::pair{"hostPort", port.host.port}, std::pair{"containerPort", port.container_port}}) {
      if (number >= 0 && number <= 65'535) continue;
      item.refuse_at(name, std::to_string(number), "expected a port from 1 to 65535");
      return;
    }
    ports.push_back(std::move(port));
  });
}

}  // namespace

void decode_resource_list(const JsonField& value, ResourceList& list) {
  constexpr std::size_t usual_size = 4;
  list.reserve(usual_size);
  value.each_field([&](const JsonField& item) {
    ResourceQuantity entry{.resource = item.key};
    if (item.key.empty() || item.key.size() > resource_name_length_max) {
      item.refuse(item.key, "expected the name of a resource");
    } else if (read_quantity(item, item.key, entry.quantity)) {
      list.push_back(entry);
    }
  });
  if (list.size() >= resources_max) {
    value.refuse({}, fmt::format("expected fewer than {} resources", resources_max));
  }
}

void decode_resources(const JsonField& value, ResourceList& requests, ResourceList& limits) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "requests") decode_resource_list(field, requests);
    if (field.key == "limits") decode_resource_list(field, limits);
  });
}

void decode_quotas(const JsonField& value, Quotas& quotas) {
  ResourceList list;
  decode_resource_list(value, list);
  for (const ResourceQuantity& item : list) {
    const Scale scale = counted_in_thousandths(item.resource) ? Scale::milli : Scale::one;
    quotas.push_back({.resource = std::string(item.resource),
                      .amount = rounded_up(item.quantity, scale).value_or(0)});
  }
  std::ranges::sort(quotas);
}

void decode_amounts(const JsonField& value, Amounts& amounts) {
  decode_quotas(value, amounts);
  normalize(amounts);
}

void decode_containers(const JsonField& value, ContainersOf of,
                       std::vector<ContainerResources>& containers,
                       std::vector<ContainerPort>& ports) {
  value.each_item([&](const JsonField& item) {
    if (containers.size() == containers_max) {
      item.refuse({}, fmt::format("expected at most {} containers", containers_max));
    }
    ContainerResources& container = containers.emplace_back();
    const std::size_t ports_before = ports.size();
    item.each_field([&](const JsonField& field) {
      std::string_view text;
      if (field.key == "name") field.read(container.name);
      if (field.key == "resources") decode_resources(field, container.requests, container.limits);
      if (field.key == "ports") decode_ports(field, ports);
      if (field.key == "restartPolicy") {
        container.restartable = field.read(text) && text == "Always";
      }
    });
    if (of == ContainersOf::init && !container.restartable) ports.resize(ports_before);
  });
}

void decode_container_statuses(const JsonField& value, std::vector<ContainerResources>& statuses) {
  value.each_item([&](const JsonField& item) {
    ContainerResources& status = statuses.emplace_back();
    ResourceList limits;
    item.each_field([&](const JsonField& field) {
      if (field.key == "name") field.read(status.name);
      if (field.key == "allocatedResources") decode_resource_list(field, status.allocated);
      if (field.key == "resources") {
        // Kubernetes looks at the status only when it says what the container runs with.
        status.has_status = !field.is_null();
        if (status.has_status) decode_resources(field, status.actual, limits);
      }
    });
  });
}

}  // namespace makeway
