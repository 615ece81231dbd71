#include "pipeline/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "pipeline/fakes.h"

namespace lull::pipeline {
namespace {

TEST(BoundedQueue, KeepsTheOrder) {
  BoundedQueue<int> queue(3);
  std::jthread producer([&] {
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(queue.push(i));
    queue.close();
  });
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(queue.pop(), i);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_FALSE(queue.cancelled());
}

TEST(BoundedQueue, BlocksAFastProducer) {
  constexpr int capacity = 2, items = 20;
  BoundedQueue<int> queue(capacity);
  std::atomic<int> pops_begun = 0;
  std::jthread producer([&] {
    for (int pushed = 1; pushed <= items; ++pushed) {
      ASSERT_TRUE(queue.push(pushed));
      // The counter is read after the push. A late read sees more pops, never fewer.
      EXPECT_LE(pushed, pops_begun + capacity);
    }
  });
  for (int i = 1; i <= items; ++i) {
    sleep_ms(5);  // gives a producer that does not wait time to run ahead
    ++pops_begun;
    EXPECT_EQ(queue.pop(), i);
  }
}

TEST(BoundedQueue, CloseLetsTheConsumerDrain) {
  BoundedQueue<int> queue(4);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  queue.close();
  EXPECT_FALSE(queue.push(3));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, CancelDropsQueuedItems) {
  BoundedQueue<std::shared_ptr<int>> queue(4);
  auto item = std::make_shared<int>(1);
  EXPECT_TRUE(queue.push(item));
  queue.cancel();
  EXPECT_EQ(item.use_count(), 1);
  EXPECT_FALSE(queue.push(item));
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_TRUE(queue.cancelled());
  queue.close();
  EXPECT_TRUE(queue.cancelled());
}

TEST(BoundedQueue, CancelWakesBothSides) {
  BoundedQueue<int> full(1), empty(1);
  EXPECT_TRUE(full.push(1));
  std::jthread producer([&] { EXPECT_FALSE(full.push(2)); });
  std::jthread consumer([&] { EXPECT_EQ(empty.pop(), std::nullopt); });
  sleep_ms(20);
  full.cancel();
  empty.cancel();
}

TEST(BoundedQueue, CapacityIsAtLeastOne) {
  BoundedQueue<int> queue(0);
  EXPECT_TRUE(queue.push(1));
  EXPECT_EQ(queue.pop(), 1);
}

TEST(BoundedQueue, DeliversEveryItemAcrossManyThreads) {
  constexpr int threads = 4, each = 2000;
  BoundedQueue<int> queue(5);
  std::atomic<std::int64_t> sum = 0;
  {
    std::vector<std::jthread> consumers;
    for (int i = 0; i < threads; ++i)
      consumers.emplace_back([&] {
        while (const auto item = queue.pop()) sum += *item;
      });
    {
      std::vector<std::jthread> producers;
      for (int i = 0; i < threads; ++i)
        producers.emplace_back([&] {
          for (int n = 1; n <= each; ++n) EXPECT_TRUE(queue.push(n));
        });
    }
    queue.close();
  }
  EXPECT_EQ(sum, std::int64_t{threads} * each * (each + 1) / 2);
}

}  // namespace
}  // namespace lull::pipeline
