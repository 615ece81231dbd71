#pragma once
// A CUDA warp simulated on the CPU, for tests of device code without a GPU. It must be included
// before the headers (.cuh) that use it. The 32 lanes are fibers that run one after the other until
// the next operation of the complete warp, so that such operations see the values of all lanes. As
// everywhere in lull, all lanes must take part in each operation in the same order.

#include <cuda_runtime_api.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace lull::test_support {

class Warp {
 public:
  static constexpr int lanes = 32;
  using Values = std::array<std::uint32_t, lanes>;

  /// Runs a program in all lanes; returns the number of operations of the complete warp.
  static std::int64_t run(const std::function<void(int lane)>& program) {
    Warp warp(program);
    current_ = &warp;
    for (bool runs = true; runs;) {
      runs = false;
      for (int i = 0; i < lanes; ++i) {
        Lane& lane = warp.lanes_[i];
        if (lane.is_done) continue;
        warp.now_ = i;
        swapcontext(&warp.main_, &lane.context);
        runs |= !lane.is_done;
      }
    }
    current_ = nullptr;
    for (const Lane& lane : warp.lanes_)
      if (lane.operations != warp.lanes_[0].operations)
        throw std::logic_error("a lane missed an operation of the whole warp");
    return warp.lanes_[0].operations;
  }

  static int lane() { return current_->now_; }

  /// Passes the value of each lane to all lanes.
  static const Values& exchange(std::uint32_t value) {
    Warp& warp = *current_;
    Lane& lane = warp.lanes_[warp.now_];
    // Two buffers alternate: the first lane may store its next value before the last lane has read
    // the current one.
    Values& values = warp.values_[lane.operations++ % 2];
    values[warp.now_] = value;
    swapcontext(&lane.context, &warp.main_);
    return values;
  }

 private:
  struct Lane {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(64 << 10);
    std::int64_t operations = 0;
    bool is_done = false;
  };

  explicit Warp(const std::function<void(int)>& program) : program_(program), lanes_(lanes) {
    for (Lane& lane : lanes_) {
      getcontext(&lane.context);
      lane.context.uc_stack.ss_sp = lane.stack.data();
      lane.context.uc_stack.ss_size = lane.stack.size();
      lane.context.uc_link = &main_;
      makecontext(&lane.context, enter, 0);
    }
  }
  static void enter() {
    Warp& warp = *current_;
    const int own = warp.now_;
    warp.program_(own);
    warp.lanes_[own].is_done = true;
  }

  static inline Warp* current_ = nullptr;
  const std::function<void(int)>& program_;
  std::vector<Lane> lanes_;
  ucontext_t main_{};
  std::array<Values, 2> values_{};
  int now_ = 0;
};

/// Replaces threadIdx for the first warp of a block, and blockIdx for the first block.
struct ThreadIndex {
  struct {
    operator unsigned() const { return static_cast<unsigned>(Warp::lane()); }
  } x;
};
struct BlockIndex {
  unsigned x = 0, y = 0, z = 0;
};

}  // namespace lull::test_support

// The following definitions have the names of CUDA's device code.
inline const lull::test_support::ThreadIndex threadIdx;
inline const lull::test_support::BlockIndex blockIdx;

inline std::uint32_t __shfl_sync(unsigned, std::uint32_t v, int from) {
  return lull::test_support::Warp::exchange(v)[from & 31];
}
inline std::uint32_t __shfl_up_sync(unsigned, std::uint32_t v, int by) {
  const int lane = lull::test_support::Warp::lane();
  return lull::test_support::Warp::exchange(v)[lane < by ? lane : lane - by];
}
inline std::uint32_t __shfl_xor_sync(unsigned, std::uint32_t v, int bits) {
  const int lane = lull::test_support::Warp::lane();
  return lull::test_support::Warp::exchange(v)[lane ^ bits];
}
inline std::uint32_t __ballot_sync(unsigned, bool holds) {
  std::uint32_t ballot = 0;
  const auto& values = lull::test_support::Warp::exchange(holds ? 1 : 0);
  for (int i = 0; i < 32; ++i) ballot |= values[i] << i;
  return ballot;
}
inline bool __any_sync(unsigned mask, bool holds) { return __ballot_sync(mask, holds) != 0; }
inline void __syncwarp() { lull::test_support::Warp::exchange(0); }

inline int __popc(std::uint32_t v) { return std::popcount(v); }
inline int __ffs(std::uint32_t v) { return v == 0 ? 0 : std::countr_zero(v) + 1; }
inline int __clz(std::uint32_t v) { return std::countl_zero(v); }
inline std::uint32_t __vmaxu2(std::uint32_t a, std::uint32_t b) {
  return std::max(a >> 16, b >> 16) << 16 | std::max(a & 0xffff, b & 0xffff);
}
inline std::uint32_t __vminu2(std::uint32_t a, std::uint32_t b) {
  return std::min(a >> 16, b >> 16) << 16 | std::min(a & 0xffff, b & 0xffff);
}
template <class T>
constexpr T max(T a, T b) {
  return std::max(a, b);
}
template <class T>
constexpr T min(T a, T b) {
  return std::min(a, b);
}
