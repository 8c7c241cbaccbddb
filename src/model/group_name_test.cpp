#include "model/group_name.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

TEST(GroupName, IsMadeOfWorkloadTemplateAndReplica) {
  EXPECT_EQ(group_name("training", "workers", ""), "training/workers");
  EXPECT_EQ(group_name("training", "workers", "3"), "training/workers/3");
}

TEST(GroupName, ComesApartAgain) {
  EXPECT_EQ(workload_of_group_name("training/workers/3"), "training");
  EXPECT_EQ(template_of_group_name("training/workers/3"), "workers");
  EXPECT_EQ(replica_of_group_name("training/workers/3"), "3");
  EXPECT_EQ(workload_of_group_name("training/workers"), "training");
  EXPECT_EQ(template_of_group_name("training/workers"), "workers");
  EXPECT_EQ(replica_of_group_name("training/workers"), "");
}

TEST(GroupName, APodGroupHasNoParts) {
  EXPECT_EQ(workload_of_group_name("group"), "");
  EXPECT_EQ(template_of_group_name("group"), "");
  EXPECT_EQ(replica_of_group_name("group"), "");
  EXPECT_EQ(workload_of_group_name(""), "");
  EXPECT_EQ(replica_of_group_name(""), "");
}

TEST(GroupName, EmptyPartsDoNotConfuseIt) {
  EXPECT_EQ(workload_of_group_name("/t/r"), "");
  EXPECT_EQ(template_of_group_name("w//r"), "");
  EXPECT_EQ(replica_of_group_name("w//r"), "r");
  EXPECT_EQ(replica_of_group_name("w/t/"), "");
}

}  // namespace
}  // namespace makeway
