#pragma once

namespace lull::tools {

/// Implements `lull doctor`, which prints what works on this machine. Returns the exit code.
/// @throws DeviceUnavailable  neither the CPU nor a GPU works
int doctor();

}  // namespace lull::tools
