#include "cuda/device_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/driver_version.h"

namespace lull::cuda {
namespace {

TEST(DeviceList, HasDevicesOrAReason) {
  const DeviceList list = list_devices();
  EXPECT_EQ(list.devices.empty(), !list.reason.empty()) << list.reason;
  for (const DeviceInfo& device : list.devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory, 0u);
    EXPECT_GT(device.multiprocessors, 0);
    EXPECT_GE(device.major, 5);
  }
}

TEST(DeviceList, DistinguishesMissingFromOldDriver) {
  EXPECT_EQ(driver_problem(0, 12080),
            "no NVIDIA driver here: to use an NVIDIA GPU, install its driver");
  EXPECT_EQ(driver_problem(11040, 12080),
            "the NVIDIA driver knows CUDA up to 11.4, this build needs 12.8: update the driver");
  // CUDA's own message contains this word for both cases, so lull must not print it.
  EXPECT_THAT(list_devices().reason, testing::Not(testing::HasSubstr("insufficient")));
}

}  // namespace
}  // namespace lull::cuda
