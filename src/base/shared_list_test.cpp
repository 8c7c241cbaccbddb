#include "base/shared_list.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

TEST(SharedList, CopiesShareUntilOneChanges) {
  SharedList<int> first = {1, 2};
  const SharedList<int> second = first;
  EXPECT_EQ(&first.items(), &second.items());
  first.edit().push_back(3);
  EXPECT_EQ(first.size(), 3U);
  EXPECT_EQ(second, (SharedList<int>{1, 2}));
  EXPECT_FALSE(first == second);
  const std::vector<int>* const own = &first.items();
  first.edit().push_back(4);  // No other copy shares it.
  EXPECT_EQ(&first.items(), own);
}

TEST(SharedList, AnEmptyOneIsAsGoodAsNone) {
  SharedList<int> list;
  EXPECT_TRUE(list.empty());
  list.edit();
  EXPECT_EQ(list, SharedList<int>());
  EXPECT_EQ(list, SharedList<int>(std::vector<int>()));
}

}  // namespace
}  // namespace makeway
