#pragma once
// The number of threads of the host backends.

namespace lull::cpu {

/// Allows oneTBB to run `threads` threads. By default it runs at most one thread per core. The
/// smallest limit of a process applies, therefore all sessions share this one.
void allow_threads(int threads);

}  // namespace lull::cpu
