#include "cuda/waking.h"

namespace lull::cuda {

Waking::Waking(std::vector<int>) {}

}  // namespace lull::cuda
