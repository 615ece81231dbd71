#pragma once
// How many threads the host backends run with.

namespace lull::cpu {

/// Lets oneTBB start so many threads, which by itself starts no more than there are cores. Of
/// several limits the least counts, so that the whole process has one.
void allow_threads(int threads);

}  // namespace lull::cpu
