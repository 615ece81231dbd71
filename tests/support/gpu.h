#pragma once
// A fixture for tests that need a GPU; it reports why they are skipped.

#include <gtest/gtest.h>

#include "cuda/device_list.h"

namespace lull::test_support {

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const cuda::DeviceList list = cuda::list_devices();
    if (list.devices.empty()) GTEST_SKIP() << "no GPU: " << list.reason;
  }
};

}  // namespace lull::test_support
