#pragma once
// Defines patches: the squares of samples that the matcher compares and the filter processes.

namespace lull {

/// A patch of `side` x `side` samples.
struct PatchShape {
  int side = 8;
  constexpr int samples() const { return side * side; }
  friend constexpr bool operator==(const PatchShape&, const PatchShape&) = default;
};

/// The patch shape of the cpu and cuda kernels, which support no other shape. The reference backend
/// supports all squares up to this size.
inline constexpr PatchShape square_8{8};
/// Side of the patches of the cpu and cuda kernels, called k in the papers.
inline constexpr int patch = square_8.side;
/// Maximum number of samples in a patch of any shape.
inline constexpr int max_patch_samples = 64;

}  // namespace lull
