#include "cuda/device_list.h"

#include <gtest/gtest.h>

namespace lull::cuda {
namespace {

TEST(DeviceList, IsEitherFullOrSaysWhyNot) {
  const DeviceList list = list_devices();
  EXPECT_EQ(list.devices.empty(), !list.reason.empty()) << list.reason;
  for (const DeviceInfo& device : list.devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory, 0u);
    EXPECT_GT(device.multiprocessors, 0);
    EXPECT_GE(device.major, 5);
  }
}

}  // namespace
}  // namespace lull::cuda
