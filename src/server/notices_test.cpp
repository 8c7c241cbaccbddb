// Notices: one of a kind in a while, and the others counted.
#include "server/notices.hpp"

#include <gtest/gtest.h>

namespace makeway::server {
namespace {

TEST(Notices, OneOfAKindInAWhile) {
  Time now{5};
  Notices notices([&] { return now; });
  EXPECT_TRUE(notices.take().empty());
  notices.tell("frame", "first");
  notices.tell("frame", "second");
  notices.tell("question", "other");
  EXPECT_EQ(notices.take(), (std::vector<Notice>{{.kind = "frame", .text = "first"},
                                                 {.kind = "question", .text = "other"}}));
  now.ms += Notices::apart.ms - 1;
  notices.tell("frame", "third");
  EXPECT_TRUE(notices.take().empty());
  now.ms += 1;
  notices.tell("frame", "fourth");
  EXPECT_EQ(notices.take(),
            (std::vector<Notice>{{.kind = "frame", .text = "fourth", .kept_back = 2}}));
}

}  // namespace
}  // namespace makeway::server
