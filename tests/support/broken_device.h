#pragma once
// A GPU that fails, for real.

namespace lull::testing {

/// Starts a kernel on `device` that traps. From then on its calls fail, and as CUDA has it those
/// for all devices of the process: for a process that may die.
void break_device(int device);

}  // namespace lull::testing
