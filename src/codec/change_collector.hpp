// ChangeCollector: the objects of one text, in its order; what else is in it is left out.
#pragma once

#include <string_view>
#include <vector>

#include "codec/decode.hpp"
#include "model/objects.hpp"

namespace makeway {

class ChangeCollector final : public ObjectSink {
 public:
  void object(const Change& object, const Origin& /*origin*/) override {
    changes_.push_back(object);
  }
  void own_document(std::string_view /*kind*/, std::string_view /*json*/,
                    const Origin& /*origin*/) override {}
  void workload(const ObjectType& /*type*/, std::string_view /*json*/,
                const Origin& /*origin*/) override {}

  std::vector<Change>& changes() { return changes_; }

 private:
  std::vector<Change> changes_;
};

}  // namespace makeway
