#pragma once

namespace lull::tools {

/// Implements `lull doctor`: tests the devices of this machine and prints the results. Returns the
/// exit code.
/// @throws DeviceUnavailable  neither the CPU nor a GPU works
int doctor();

}  // namespace lull::tools
