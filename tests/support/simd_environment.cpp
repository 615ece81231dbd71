// Makes a test program use the instruction set in LULL_TEST_SIMD (Highway's names: SSE4, AVX2,
// AVX3, ...) instead of the best one of the CPU. The best one is skipped, because the program uses
// it without LULL_TEST_SIMD.

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace lull::test_support {
namespace {

/// Returns the member of `targets` with this name; 0 if there is none.
std::int64_t find_target(std::int64_t targets, const std::string& name) {
  for (; targets != 0; targets &= targets - 1) {
    const std::int64_t lowest = targets & -targets;
    if (hwy::TargetName(lowest) == name) return lowest;
  }
  return 0;
}

class SimdEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* name = std::getenv("LULL_TEST_SIMD");
    if (!name) return;
    const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
    const std::int64_t target = find_target(targets, name);
    if (target == 0) GTEST_SKIP() << "this CPU or build lacks " << name;
    // Highway gives better instruction sets lower bits.
    if (target == (targets & -targets)) GTEST_SKIP() << "the other tests use " << name;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
  }
};

const auto* const environment = ::testing::AddGlobalTestEnvironment(new SimdEnvironment);

}  // namespace
}  // namespace lull::test_support
