#pragma once
// GPUs that get ready while others open files: the context of a GPU takes a tenth of a second.

#include <thread>
#include <vector>

namespace lull::cuda {

/// Makes contexts in threads of its own, which end with it.
class Waking {
 public:
  /// `devices`: indices among the visible ones, which need not exist; empty: all. What fails shows
  /// where the GPU is used.
  explicit Waking(std::vector<int> devices);

 private:
  std::jthread all_;
};

}  // namespace lull::cuda
