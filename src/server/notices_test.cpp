// Notices: one of a kind in a while, and the others counted.
#include "server/notices.hpp"

#include <gtest/gtest.h>

namespace makeway::server {
namespace {

TEST(Notices, OneOfAKindInAWhile) {
  Time now{5};
  Notices notices([&] { return now; });
  EXPECT_TRUE(notices.take().empty());
  notices.report("frame", "first");
  notices.report("frame", "second");
  notices.report("question", "other");
  EXPECT_EQ(notices.take(), (std::vector<Notice>{{.kind = "frame", .text = "first"},
                                                 {.kind = "question", .text = "other"}}));
  now.ms += Notices::apart.ms - 1;
  notices.report("frame", "third");
  EXPECT_TRUE(notices.take().empty());
  now.ms += 1;
  notices.report("frame", "fourth");
  EXPECT_EQ(notices.take(),
            (std::vector<Notice>{{.kind = "frame", .text = "fourth", .kept_back = 2}}));
}

}  // namespace
}  // namespace makeway::server
