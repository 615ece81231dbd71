#include "bench/support/kernel_time.h"

namespace lull::bench {

double kernels_ms(const bm3d::Params&, const Frame&, int) { return 0; }

}  // namespace lull::bench
