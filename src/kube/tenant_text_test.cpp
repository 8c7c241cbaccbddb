// SPEC section 8: what an object says is read by its owner; names of others may be another
// tenant's.
#include "kube/tenant_text.hpp"

#include <gtest/gtest.h>

namespace makeway::kube {
namespace {

struct TenantCase {
  std::string_view text;
  std::string_view told;
};

TEST(TenantText, NamesWhatIsInItsNamespaceAndNobodyElse) {
  const std::vector<PodPlacement> named = {{.namespace_name = "b", .name = "high/main"},
                                           {.namespace_name = "b", .name = "web"},
                                           {.namespace_name = "a", .name = "web"}};
  for (const auto& [text, told] : std::vector<TenantCase>{
           {"", ""},
           {"has no room, and only Session b/high, the first that does not fit, may preempt",
            "has no room, and only a session of another namespace, the first that does not fit, "
            "may preempt"},
           {"only Session a/high may preempt", "only Session a/high may preempt"},
           {"fits once b/high/main and 2 more have left",
            "fits once a kernel of another namespace and 2 more have left"},
           {"fits once b/web has left", "fits once a pod of another namespace has left"},
           {"fits once a/web has left", "fits once a/web has left"},
           {"x is no longer nominated to n1, where Pod b/web goes; in all, 2 of its pods",
            "x is no longer nominated to n1, where a pod of another namespace goes; in all, 2 of "
            "its pods"},
           {"Pod b/web", "a pod of another namespace"},
           {"b/web b/web", "a pod of another namespace a pod of another namespace"},
           {"short of cpu (brake: 10 evictions a minute in namespace b)",
            "short of cpu (brake: 10 evictions a minute in another namespace)"},
           {"10 evictions a minute in namespace a", "10 evictions a minute in namespace a"},
           {"short of nvidia.com/gpu by 2; taint b/dedicated is not tolerated",
            "short of nvidia.com/gpu by 2; taint b/dedicated is not tolerated"},
           {"taint namespace is not tolerated", "taint namespace is not tolerated"},
           {"PodGroup a/gang: no node", "PodGroup a/gang: no node"}}) {
    EXPECT_EQ(tenant_text(text, "a", named), told);
  }
}

}  // namespace
}  // namespace makeway::kube
