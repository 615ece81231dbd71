#pragma once
// Makes a real GPU fail, for tests of device failures.

namespace lull::test_support {

/// Launches a kernel on `device` that traps. All later calls for the device fail, and CUDA then
/// fails on all devices of the process. Use it only in a process that the test can discard.
void break_device(int device);

}  // namespace lull::test_support
